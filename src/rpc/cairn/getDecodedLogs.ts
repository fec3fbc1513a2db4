import type { Decoder } from '../../decoding/decoder.js'
import { type DecodedLogJson, describeLog } from '../../decoding/formatDecoded.js'
import { parseHex } from '../../lib/hex.js'
import { defineMethod } from '../core/method.js'
import { getLogs } from '../eth/getLogs.js'
import { logFilterParam } from '../eth/logFilter.js'
import { resolveFilter } from '../eth/resolveFilter.js'
import { DECODED_LOG_SCHEMA } from './decodedSchemas.js'

export const getDecodedLogs = defineMethod({
  name: 'cairn_getDecodedLogs',
  summary: 'Logs that match a filter, each with its decoded event.',
  description:
    'A Cairn extension. Filter, limits and order are those of `eth_getLogs`. `decoded` is null if no event is known that the ' +
    'log encodes. Events are known from built-in interfaces (ERC-20, 721, 1155, 4626, WETH, Uniswap v2 and v3, ENS, Safe) and from ' +
    "ABIs added with `cairn abi add`; an ABI of the log's address comes first, the built-in ones last. Other events may be guessed by signature files (`isGuess`).",
  cost: 'scan',
  classes: ['logs'],
  costKey: getLogs.costKey,
  params: [logFilterParam],
  result: { name: 'logs', schema: { type: 'array', items: DECODED_LOG_SCHEMA } },
  errors: getLogs.errors,
  handler: (context, object) => {
    const { logs, limits, deadline, askForHelp, decoder } = context
    const { text } = logs.query(resolveFilter(context, object), { deadline, maxResults: limits.maxLogs, askForHelp })
    const current = decoder()
    return (JSON.parse(`[${text.toString('latin1')}]`) as LogJson[]).map((log) => {
      deadline.check()
      return addDecoded(log, current)
    })
  },
})

/** What a log object needs to be decoded. */
interface LogJson {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly blockNumber: string | null
}

/** The log object with its decoded event. */
export function addDecoded<T extends LogJson>(log: T, decoder: Decoder): T & { decoded: DecodedLogJson | null } {
  const { address, topics, data, blockNumber } = log
  const parts = { address: parseHex(address), topics: topics.map(parseHex), data: parseHex(data) }
  return { ...log, decoded: describeLog(decoder, parts, blockNumber === null ? undefined : Number(blockNumber)) }
}
