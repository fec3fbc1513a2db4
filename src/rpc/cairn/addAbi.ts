import { type AbiItem, formatAbiJson, parseAbiJson } from '../../decoding/abiItems.js'
import { InvalidAbi } from '../../decoding/errors.js'
import { DatabaseBusy, TooManyAbis } from '../../store/abiAdder.js'
import { InvalidValue, LIMIT_EXCEEDED, METHOD_NOT_FOUND, RpcError, SERVER_ERROR } from '../core/errors.js'
import { defineMethod } from '../core/method.js'
import { address, invalidValue, optional, required, text, type ValueType } from '../core/params.js'

const NOT_GRANTED = {
  code: METHOD_NOT_FOUND,
  message:
    'the method cairn_addAbi does not exist/is not available: it needs an API key whose methods name abi, as by ' +
    "'cairn keys create NAME --methods *,abi'",
} as const

const BUSY = { code: SERVER_ERROR, message: 'the database is busy' } as const
const TOO_MANY = { code: LIMIT_EXCEEDED, message: 'the database has N ABIs' } as const

const MAX_NAME = 100
const MAX_JSON_BYTES = 1_048_576

const abiName: ValueType<string> = {
  schema: { type: 'string', minLength: 1, maxLength: MAX_NAME },
  decode: (value, path) => {
    const name = text.decode(value, path).trim()
    if (name.length >= 1 && name.length <= MAX_NAME) return name
    throw invalidValue(path, `a name of 1 to ${MAX_NAME} characters`, value)
  },
}

const abiItems: ValueType<readonly AbiItem[]> = {
  schema: { type: 'array', items: { type: 'object' } },
  decode: (value, path) => {
    const items = parseItems(value)
    if (items.length > 0) return items
    throw invalidValue(path, 'a JSON ABI with a function, an event or an error', value)
  },
}

function parseItems(value: unknown): AbiItem[] {
  try {
    return parseAbiJson(value)
  } catch (error) {
    throw error instanceof InvalidAbi ? new InvalidValue(error.message) : error
  }
}

// `point`, although it may wait for the writer: none of that time is spent on the main thread.
export const addAbi = defineMethod({
  name: 'cairn_addAbi',
  summary: 'Adds the ABI of a contract, for all users of the server. Needs the right `abi`.',
  description:
    'A Cairn extension. Only an API key whose methods name `abi` may call it; `*` does not name it. The ABI is used at once to decode ' +
    'logs, calls and errors, and replaces one with the same name and address. `cairn abi remove` removes it.',
  cost: 'point',
  classes: ['abi'],
  chainless: true,
  usesSession: true,
  runsOnce: true,
  params: [
    required('name', abiName, 'name of the contract'),
    required('abi', abiItems, 'JSON ABI; items other than functions, events and errors are left out'),
    optional('address', address, 'the contract that it is bound to; any contract without it'),
  ],
  result: { name: 'id', schema: { type: 'integer', description: 'Id of the ABI, for `cairn abi remove`.' } },
  errors: [
    NOT_GRANTED,
    { ...BUSY, when: 'another process writes for more than 10 seconds' },
    { ...TOO_MANY, when: 'the database has 1,000 ABIs' },
  ],
  handler: async ({ session, addAbi: add }, name, items, bound) => {
    if (!session?.mayAddAbis || add === undefined) throw new RpcError(NOT_GRANTED.code, NOT_GRANTED.message)
    const json = JSON.stringify(formatAbiJson(items))
    if (json.length > MAX_JSON_BYTES) {
      throw new InvalidValue(`abi: expected at most ${MAX_JSON_BYTES} bytes, got ${json.length}`)
    }
    try {
      return await add({ name, address: bound, json })
    } catch (error) {
      if (error instanceof DatabaseBusy) throw new RpcError(BUSY.code, error.message)
      if (error instanceof TooManyAbis) throw new RpcError(TOO_MANY.code, error.message)
      throw error
    }
  },
})
