import { formatAbiJson } from '../../decoding/abiItems.js'
import { itemsInCode } from '../../decoding/codeInterface.js'
import type { Decoder, KnownAbi } from '../../decoding/decoder.js'
import { formatData } from '../../lib/hex.js'
import { requireStateBlock } from '../core/blockId.js'
import { defineMethod, type JsonSchema } from '../core/method.js'
import { objectSchema } from '../core/objectSchema.js'
import { address } from '../core/params.js'
import { accountParam, stateBlockParam } from '../eth/commonParams.js'
import { STATE_ERRORS } from '../eth/schemas.js'
import { ABI_SOURCE_PROPERTIES, formatAbiSource } from './abiSchemas.js'
import { boundAbis } from './contractAbis.js'

const ABI_PROPERTIES = {
  ...ABI_SOURCE_PROPERTIES,
  isBuiltIn: { type: 'boolean' },
  items: { type: 'array', items: { type: 'object' }, description: 'Functions, events and errors as a JSON ABI.' },
}

const PROPERTIES: { readonly [name: string]: JsonSchema } = {
  implementations: {
    type: 'array',
    items: address.schema,
    description: 'Contracts that run the calls of a proxy; empty for other accounts.',
  },
  abis: {
    type: 'array',
    items: objectSchema('ContractAbi', ABI_PROPERTIES),
    description: 'In the order in which they decode.',
  },
}

export const getAbi = defineMethod({
  name: 'cairn_getAbi',
  summary: 'The ABIs that decode calls and logs of a contract after a block, and the implementation of a proxy.',
  description:
    'A Cairn extension. First the ABIs bound to the address, then those bound to its implementation (EIP-1967, EIP-1167, EIP-7702). ' +
    'Of ABIs of any contract and of built-in interfaces: the functions and events that the code names, where it names any. ' +
    '`outputs` and `stateMutability` of a function are absent where its ABI does not say them.',
  cost: 'point',
  classes: ['state'],
  params: [accountParam, stateBlockParam],
  result: {
    name: 'abi',
    schema: objectSchema('AbiOfContract', PROPERTIES),
  },
  errors: STATE_ERRORS,
  handler: ({ chain, state, decoder }, account, id) => {
    const number = requireStateBlock(chain, id)
    const current = decoder()
    const implementations = current.implementations(account, number)
    const runs = [account, ...implementations]
    const codes = runs.map((each) => state.code(each, number))
    return {
      implementations: implementations.map(formatData),
      abis: [...boundAbis(current, runs), ...generalAbis(current, codes)].map((abi) => ({
        ...formatAbiSource(abi),
        isBuiltIn: abi.added === undefined,
        items: formatAbiJson(abi.items),
      })),
    }
  },
})

/** ABIs of any contract, reduced to what the codes name. */
function generalAbis({ abis }: Decoder, codes: readonly Uint8Array[]): KnownAbi[] {
  return abis.flatMap((abi) => {
    if (abi.address !== undefined) return []
    const items = [...new Set(codes.flatMap((code) => itemsInCode(abi.items, code)))]
    return items.length === 0 ? [] : [{ ...abi, items }]
  })
}
