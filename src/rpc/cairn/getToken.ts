import { formatData, formatQuantity } from '../../lib/hex.js'
import { NO_METADATA } from '../../tokens/tokenCalls.js'
import { HEADER_NOT_FOUND } from '../core/blockId.js'
import { defineMethod } from '../core/method.js'
import { objectSchema } from '../core/objectSchema.js'
import { address, quantity, required } from '../core/params.js'
import { stateBlockParam } from '../eth/commonParams.js'
import {
  KIND_SCHEMA,
  METADATA_SCHEMAS,
  QUANTITY_OR_NULL,
  resolveTokenBlocks,
  TOKEN_ADDRESS_SCHEMA,
  tokenCalls,
} from './tokenParts.js'

export const getToken = defineMethod({
  name: 'cairn_getToken',
  summary: 'What a token contract says about itself after a block.',
  description:
    'A Cairn extension. `kind` is what the contract says it supports (ERC-165), else that of its first transfer, ' +
    'else `erc20` if it answers `decimals()` and `totalSupply()`. The result is null for an address that is none ' +
    'of these. `firstBlock` has its first transfer. Each call has 5 million gas; a member is null if its call ' +
    'fails. Bytes that are no UTF-8, control characters, and characters that are invisible or change the direction ' +
    'of text become U+FFFD; a text of more than 256 characters is cut and ends with `…`. Without state all but ' +
    '`kind` and `firstBlock` are null.',
  cost: 'evm',
  classes: ['calls'],
  params: [required('token', address, 'address of the contract'), stateBlockParam],
  result: {
    name: 'token',
    schema: {
      oneOf: [
        objectSchema('Token', {
          address: TOKEN_ADDRESS_SCHEMA,
          kind: KIND_SCHEMA,
          ...METADATA_SCHEMAS,
          totalSupply: QUANTITY_OR_NULL,
          firstBlock: QUANTITY_OR_NULL,
          blockNumber: quantity.schema,
        }),
        { type: 'null' },
      ],
    },
  },
  errors: [HEADER_NOT_FOUND],
  handler: (context, token, id) => {
    const { fromBlock, toBlock } = resolveTokenBlocks(context.chain, id)
    const { deadline } = context
    const options = { limit: 1, sliceEnds: deadline }
    const [first] = context.tokens().transfers.page({ token, fromBlock, toBlock }, options).transfers
    deadline.check()
    const calls = tokenCalls(context, toBlock)
    const metadata = calls?.metadata(token) ?? NO_METADATA
    const totalSupply = calls?.totalSupply(token) ?? null
    const isErc20 = metadata.decimals !== null && totalSupply !== null
    const kind = calls?.supportedKind(token) ?? first?.kind ?? (isErc20 ? 'erc20' : undefined)
    if (kind === undefined) return null
    return {
      address: formatData(token),
      kind,
      ...metadata,
      totalSupply: totalSupply === null ? null : formatQuantity(totalSupply),
      firstBlock: first === undefined ? null : formatQuantity(first.position.blockNumber),
      blockNumber: formatQuantity(toBlock),
    }
  },
})
