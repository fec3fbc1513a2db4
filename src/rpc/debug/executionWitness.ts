import { formatData } from '../../lib/hex.js'
import { BLOCK_UNAVAILABLE, findBlock, STATE_UNAVAILABLE } from '../core/blockId.js'
import { RpcError, SERVER_ERROR, STATE_TRIE_ERROR } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import {
  type BlockId,
  blockId,
  boolean,
  data,
  invalidValue,
  isAbsent,
  maybe,
  optional,
  required,
  type ValueType,
} from '../core/params.js'
import { strictObject } from '../core/strictObject.js'
import { orNull } from '../eth/schemas.js'

const NO_PARENT = { code: SERVER_ERROR, message: 'block 0 is not executed, it has no witness' } as const
const items = { type: 'array', items: data.schema }

/** A block other than the pending one, which no client has executed. */
const executedBlock: ValueType<BlockId> = {
  schema: blockId.schema,
  decode: (value, path) => {
    const id = blockId.decode(value, path)
    if (id === 'pending') throw invalidValue(path, 'a number, a hash or a tag of a block that is executed', value)
    return id
  },
}

const members = strictObject({ keys: maybe(boolean) }, { title: 'witness options' })

/** What a witness includes. */
interface WitnessOptions {
  keys: boolean
}

/* The draft has no second parameter, and allows `keys`. reth has its format in this place. */
const witnessOptions: ValueType<WitnessOptions> = {
  schema: { anyOf: [members.schema, { type: 'string', enum: ['canonical'] }] },
  decode: (value, path) => {
    if (value === 'canonical') return { keys: false }
    if (typeof value === 'string') throw invalidValue(path, '"canonical" or an object such as {"keys": true}', value)
    const { keys } = members.decode(value, path)
    return { keys: isAbsent(keys) ? false : keys }
  },
}

export const executionWitness = defineMethod({
  name: 'debug_executionWitness',
  summary: 'What executes a block with no other state: trie nodes, codes and headers; or null.',
  description:
    'The canonical form of execution-apis#847 and execution-specs (EIP-8025). `state`: RLP of the nodes of the tries of the parent ' +
    'state on the paths of what the block accesses, and of those that move up where it deletes; without those that only the caller ' +
    'of system calls or unused entries of access lists would need. `codes`: code that accounts have in the parent state and that ' +
    'the block runs or reads. `headers`: RLP of the headers up to the parent, from the oldest whose hash the block reads. `keys`, on ' +
    'request: the addresses and slots that the block accesses. All but the headers are sorted by their bytes, and each is listed ' +
    'once. The block is executed again for it.',
  cost: 'evm',
  classes: ['traces', 'state'],
  params: [
    required('block', executedBlock, 'block number, tag other than `pending`, hash, or EIP-1898 object'),
    optional(
      'options',
      witnessOptions,
      '`keys`: include them; or `"canonical"`, the format of reth that is always used',
      {
        keys: false,
      },
    ),
  ],
  result: {
    name: 'witness',
    schema: orNull({
      type: 'object',
      properties: { state: items, codes: items, keys: items, headers: items },
      required: ['state', 'codes', 'headers'],
    }),
  },
  errors: [BLOCK_UNAVAILABLE, STATE_UNAVAILABLE, NO_PARENT, STATE_TRIE_ERROR],
  handler: ({ chain, evm, deadline }, id, options) => {
    const block = findBlock(chain, id)
    if (!block) return null
    if (block.header.number === 0) throw new RpcError(NO_PARENT.code, NO_PARENT.message)
    const { state, codes, keys, headers } = evm.executionWitness(block.header.number, deadline)
    return {
      state: state.map(formatData),
      codes: codes.map(formatData),
      // The draft has no empty list.
      ...(options.keys && keys.length > 0 ? { keys: keys.map(formatData) } : {}),
      headers: headers.map(formatData),
    }
  },
})
