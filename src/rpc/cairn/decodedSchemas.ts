import type { JsonSchema } from '../core/method.js'
import { LOG_SCHEMA, orNull } from '../eth/schemas.js'

/* JSON schemas of decoded logs, calls and errors. */

const TEXT: JsonSchema = { type: 'string' }

const VALUE: JsonSchema = {
  description:
    'Integers are decimal text, addresses have EIP-55 checksums, bytes are DATA. A tuple is an object by member name, or an ' +
    'array if a member has no name. Of an indexed string, bytes, array or tuple: the 32-byte hash.',
}

const NAMED = { name: { ...TEXT, description: 'Empty if the ABI has none, and in guesses.' }, type: TEXT }

const GUESS = {
  isGuess: { type: 'boolean', description: 'True for a guess by a signature file; absent for an ABI.' },
  candidates: {
    type: 'array',
    items: TEXT,
    description: 'Signatures of a guess, if no single one decodes the data; `args` is empty then.',
  },
}

type Members = { readonly [name: string]: JsonSchema }

function decodedSchema(title: string, members: Members, more: Members = {}): JsonSchema {
  const item: JsonSchema = { type: 'object', properties: members, required: Object.keys(members) }
  const properties = {
    name: { ...orNull(TEXT), description: 'Null for a guess of several signatures, like `signature`.' },
    signature: orNull(TEXT),
    args: { type: 'array', items: item },
    ...more,
  }
  return orNull({
    title,
    type: 'object',
    properties: { ...properties, ...GUESS },
    required: Object.keys(properties),
  })
}

/** Why a call failed, or null. */
export const DECODED_ERROR_SCHEMA = decodedSchema(
  'DecodedError',
  { ...NAMED, value: VALUE },
  {
    reason: {
      ...TEXT,
      description:
        'One line: the text of `Error(string)`, the meaning of `Panic(uint256)`, else the error with its arguments.',
    },
  },
)

/** The error of a transaction, or null. */
export const FAILURE_SCHEMA = failureSchema()

function failureSchema(): JsonSchema {
  const properties = {
    error: orNull({ ...TEXT, description: 'What the EVM says, such as `execution reverted`.' }),
    data: orNull({ ...TEXT, description: 'Revert data; `0x` if there are none.' }),
    decoded: DECODED_ERROR_SCHEMA,
    reason: orNull({ ...TEXT, description: 'One line: the reason of the decoded error, else `error`.' }),
  }
  return orNull({ title: 'Failure', type: 'object', properties, required: Object.keys(properties) })
}

/** The decoded call of a transaction, or null. */
export const DECODED_CALL_SCHEMA = decodedSchema('DecodedCall', { ...NAMED, value: VALUE })

const { properties, required } = LOG_SCHEMA as { properties: { [name: string]: JsonSchema }; required: string[] }

/** A log with the member `decoded`. */
export const DECODED_LOG_SCHEMA: JsonSchema = {
  title: 'DecodedLog',
  type: 'object',
  properties: {
    ...properties,
    decoded: decodedSchema('DecodedEvent', { ...NAMED, indexed: { type: 'boolean' }, value: VALUE }),
  },
  required: [...required, 'decoded'],
}
