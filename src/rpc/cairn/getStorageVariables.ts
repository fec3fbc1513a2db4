import { parseStorageLayout } from '../../decoding/storage/layout.js'
import { readVariable, readVariables, type StoredVariable, UnknownPath } from '../../decoding/storage/variables.js'
import { formatData, formatQuantity } from '../../lib/hex.js'
import { requireStateBlock } from '../core/blockId.js'
import { INVALID_PARAMS, InvalidValue, invalidParams } from '../core/errors.js'
import { defineMethod, type JsonSchema } from '../core/method.js'
import { objectSchema } from '../core/objectSchema.js'
import { arrayOf, hash32, optional, quantity, text, type ValueType } from '../core/params.js'
import { accountParam, stateBlockParam } from '../eth/commonParams.js'
import { STATE_ERRORS } from '../eth/schemas.js'
import { abisThatRun } from './contractAbis.js'

const MAX_STEPS = 16
const MAX_STEP = 1_024

const steps = arrayOf(text)
const pathType: ValueType<readonly string[]> = {
  schema: steps.schema,
  decode: (value, path) => {
    const decoded = steps.decode(value, path)
    if (decoded.length > MAX_STEPS || decoded.some((step) => step.length > MAX_STEP)) {
      throw new InvalidValue(`${path}: expected at most ${MAX_STEPS} steps of at most ${MAX_STEP} characters`)
    }
    return decoded
  },
}

const TEXT: JsonSchema = { type: 'string' }

const VARIABLE: JsonSchema = objectSchema(
  'StorageVariable',
  {
    name: TEXT,
    type: TEXT,
    slot: hash32.schema,
    offset: { type: 'integer', minimum: 0, maximum: 31 },
    value: { type: ['string', 'boolean', 'null'] },
    isCut: { type: 'boolean' },
  },
  {
    parts: { type: 'array', items: { type: 'object' } },
    length: quantity.schema,
    keyType: TEXT,
  },
)

const UNKNOWN_PATH = { code: INVALID_PARAMS, message: "invalid argument 2: no variable '…'" }

// `scan`: 1,000 slots that are not in memory take longer than a `point` method may.
export const getStorageVariables = defineMethod({
  name: 'cairn_getStorageVariables',
  summary: "Variables of a contract's storage after a block, by its storage layout.",
  description:
    'A Cairn extension, for contracts with a storage layout (`cairn abi add`); a proxy has that of its implementation after the block. ' +
    'Null if no layout is known. Integers are decimal, strings are text, other bytes hex. Members of structs and the first 100 elements ' +
    'of arrays are `parts`; `isCut` is true where some are left out, and for a string of more than 1,024 bytes. At most 1,000 variables ' +
    'are read. A path leads to one of them: its name or number, then keys of mappings (`keyType`), indexes, and names of members.',
  cost: 'scan',
  classes: ['state'],
  params: [
    accountParam,
    stateBlockParam,
    optional('path', pathType, 'of one variable: `["balances", "0x…"]`; default: all variables', []),
  ],
  result: {
    name: 'variables',
    schema: { oneOf: [{ type: 'array', items: VARIABLE }, { type: 'null' }] },
  },
  errors: [...STATE_ERRORS, UNKNOWN_PATH],
  handler: ({ chain, state, decoder, contractSources, deadline }, account, id, path) => {
    const blockNumber = requireStateBlock(chain, id)
    const abi = abisThatRun(decoder(), account, blockNumber).find(({ added }) => added?.hasStorageLayout)
    const layout = abi && parseStorageLayout(contractSources.storageLayout(abi.added!.id))
    if (layout === undefined) return null
    const read = (slot: Uint8Array) => {
      deadline.check()
      return state.storage(account, slot, blockNumber)
    }
    try {
      return (path.length === 0 ? readVariables(layout, read) : [readVariable(layout, path, read)]).map(formatVariable)
    } catch (error) {
      if (error instanceof UnknownPath) throw invalidParams(`invalid argument 2: ${error.message}`)
      throw error
    }
  },
})

function formatVariable({ slot, parts, length, keyType, ...variable }: StoredVariable): object {
  return {
    ...variable,
    slot: formatData(slot),
    ...(parts && { parts: parts.map(formatVariable) }),
    ...(length !== undefined && { length: formatQuantity(length) }),
    ...(keyType !== undefined && { keyType }),
  }
}
