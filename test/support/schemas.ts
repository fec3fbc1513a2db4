import { createRequire } from 'node:module'
import { Ajv } from 'ajv'
import type { JsonSchema } from '../../src/rpc/core/method.js'

const require = createRequire(import.meta.url)

// The OpenRPC meta-schema refers to a copy of the JSON Schema meta-schema, draft 7, at this address, with and without
// the slash.
const JSON_SCHEMA_COPY = 'https://meta.json-schema.tools/'

/** What is wrong with the value by the schema; empty when nothing is. */
export type Validate = (value: unknown) => string[]

// One for all schemas: each compiles the meta-schema once, and a schema once by its object.
let shared: Ajv | undefined

/** Validates values of a JSON schema, draft 7. @throws Error when the schema itself is not valid. */
export function validatorOf(schema: JsonSchema): Validate {
  shared ??= new Ajv({ strict: false, logger: false, addUsedSchema: false })
  return compile(shared, schema)
}

/** Validates OpenRPC documents by the official meta-schema. */
export function openRpcValidator(): Validate {
  const ajv = new Ajv({ strict: false, logger: false })
  const draft7 = require('ajv/dist/refs/json-schema-draft-07.json')
  const { definitions, properties } = draft7
  // The copy names the object form of a schema.
  ajv.addMetaSchema({
    ...draft7,
    $id: JSON_SCHEMA_COPY,
    definitions: { ...definitions, JSONSchemaObject: { properties } },
  })
  const { openrpcDocument } = require('@open-rpc/meta-schema') as { openrpcDocument: JsonSchema }
  const text = JSON.stringify(openrpcDocument).replaceAll(
    '"https://meta.json-schema.tools"',
    JSON.stringify(JSON_SCHEMA_COPY),
  )
  return compile(ajv, JSON.parse(text))
}

function compile(ajv: Ajv, schema: JsonSchema): Validate {
  const validate = ajv.compile(schema)
  return (value) => {
    validate(value)
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || 'value'}: ${message}`)
  }
}
