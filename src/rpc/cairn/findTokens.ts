import { deadlineAfter } from '../../lib/deadline.js'
import { formatData, formatQuantity } from '../../lib/hex.js'
import { hasWord } from '../../tokens/tokenDirectory.js'
import { INVALID_PARAMS, invalidParams } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import { objectSchema } from '../core/objectSchema.js'
import { integerBetween, optional, quantity, required, text } from '../core/params.js'
import { ifKnown, KIND_SCHEMA, METADATA_SCHEMAS, TOKEN_ADDRESS_SCHEMA, tokenCalls } from './tokenParts.js'

// A search ends after this time, well before the deadline of a call.
const SLICE_MS = 2_000
const MAX_RESULTS = 100
const DEFAULT_RESULTS = 20
const MAX_TEXT = 256
const BAD_TEXT = `invalid argument 0: text: expected 1 to ${MAX_TEXT} characters`

export const findTokens = defineMethod({
  name: 'cairn_findTokens',
  summary: 'Tokens by their name or symbol.',
  description:
    'A Cairn extension. Contracts with a token transfer whose `name()` or `symbol()` after the newest block has the text, in any case: ' +
    'first those that are called so, then those that begin with it. The server reads the contracts and what they call themselves when ' +
    'it is first asked, from the first block on, for up to two seconds a call, and keeps them in memory: until `isComplete` is true, a ' +
    'repeated call knows more of them, `searched` in total. A server knows at most 50,000 contracts. Names are those of `cairn_getToken`, ' +
    'with 500,000 gas a call. ' +
    'Without state nothing is found.',
  cost: 'evm',
  classes: ['calls'],
  params: [
    required('text', text, 'a part of the name or symbol, 1 to 256 characters'),
    optional('limit', integerBetween(1, MAX_RESULTS), 'results at most', DEFAULT_RESULTS),
  ],
  result: {
    name: 'tokens',
    schema: objectSchema('FoundTokens', {
      tokens: {
        type: 'array',
        items: objectSchema('FoundToken', { address: TOKEN_ADDRESS_SCHEMA, kind: KIND_SCHEMA, ...METADATA_SCHEMAS }),
      },
      isComplete: { type: 'boolean' },
      searched: quantity.schema,
      blockNumber: quantity.schema,
    }),
  },
  errors: [{ code: INVALID_PARAMS, message: BAD_TEXT }],
  handler: (context, wanted, limit) => {
    const { chain, limits, deadline } = context
    const { transfers, directory } = context.tokens()
    const { first, head } = chain.coverage() ?? { first: 0, head: 0 }
    const calls = tokenCalls(context, head, { isAmongMany: true })
    const word = wanted.trim()
    if (word === '' || word.length > MAX_TEXT) throw invalidParams(BAD_TEXT)
    const tokens: object[] = []
    let isComplete = false
    if (calls !== undefined) {
      const sliceEnds = deadlineAfter(Math.min(SLICE_MS, limits.callTimeoutMs / 2))
      const search = directory.search(word, {
        sliceEnds,
        read: (token) => ifKnown(() => ({ name: calls.name(token), symbol: calls.symbol(token) })) ?? undefined,
      })
      isComplete = search.isComplete
      for (const { token } of search.found) {
        if (tokens.length === limit) break
        // What was read earlier may have changed, and the log may be no transfer of a standard.
        const metadata = ifKnown(() => calls.metadata(token))
        if (metadata === null || !hasWord(metadata, word)) continue
        const query = { token, fromBlock: first, toBlock: head }
        const [transfer] = transfers.page(query, { limit: 1, sliceEnds: deadline }).transfers
        if (transfer === undefined) continue
        const kind = ifKnown(() => calls.supportedKind(token)) ?? transfer.kind
        tokens.push({ address: formatData(token), kind, ...metadata })
      }
    }
    return {
      tokens,
      isComplete,
      searched: formatQuantity(directory.size),
      blockNumber: formatQuantity(head),
    }
  },
})
