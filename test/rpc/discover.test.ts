import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RpcContext } from '../../src/rpc/core/context.js'
import type { JsonBytes, JsonSchema } from '../../src/rpc/core/method.js'
import { exampleValues, readExamples, WITHOUT_EXAMPLE } from '../../src/rpc/examples.js'
import { ALL_METHODS, METHODS } from '../../src/rpc/methods.js'
import { openRpcValidator, validatorOf } from '../support/schemas.js'

/* rpc_discover is valid OpenRPC, with an example of each method and of each documented error. test/e2e/examples.test.ts
 * asks the program for them again. */

interface DiscoveredMethod {
  name: string
  params: { name: string; required: boolean; schema: JsonSchema }[]
  result: { schema: JsonSchema }
  examples?: { description?: string; params: { name: string; value: unknown }[]; result: { value: unknown } }[]
}

const RECORD = 'add a case to tools/rpcCases and run `npm run record:rpc`'
const discover = () => METHODS.get('rpc_discover')!.handler({} as RpcContext) as JsonBytes
const text = Buffer.from(discover().bytes).toString()
const document = JSON.parse(text) as { methods: DiscoveredMethod[] }
const examples = readExamples()

test('the document is made once, as bytes', () => {
  assert.equal(discover().bytes, discover().bytes)
})

test('rpc_discover is valid by the meta-schema of OpenRPC', () => {
  const validate = openRpcValidator()
  assert.deepEqual(validate(document), [])
  assert.notDeepEqual(validate({ ...document, methods: [{ name: 'x' }] }), [], 'the validator finds faults')
})

test('every method has an example, or a reason why not', () => {
  const without = document.methods.filter((method) => !method.examples?.length).map(({ name }) => name)
  assert.deepEqual(without, Object.keys(WITHOUT_EXAMPLE), RECORD)
  const known = new Set(ALL_METHODS.map(({ name }) => name))
  assert.deepEqual(
    Object.keys(examples).filter((name) => !known.has(name)),
    [],
    'examples of unknown methods',
  )
})

test('every documented error has a call that fails with it, or says when it occurs', () => {
  const missing = ALL_METHODS.flatMap(({ name, errors }) =>
    errors
      .filter((documented) => {
        const found = examples[name]?.errors.find(
          ({ code, message }) => code === documented.code && message === documented.message,
        )
        return found === undefined && documented.when === undefined
      })
      .map(({ code, message }) => `${name}: ${code} ${message}`),
  )
  assert.deepEqual(missing, [], RECORD)
})

test('the parameters of every example are valid by their schemas', () => {
  for (const { name, params } of document.methods) {
    const { example } = examples[name] ?? {}
    if (!example) continue
    for (const [i, value] of exampleValues(METHODS.get(name)!, example).entries()) {
      if (value === undefined || value === null) continue
      assert.deepEqual(validatorOf(params[i].schema)(value), [], `${name}: ${params[i].name} of ${example.name}`)
    }
  }
})

test('an example pairing has the parameters by name, with results of the calls before it', () => {
  const pairingOf = (name: string) => document.methods.find((method) => method.name === name)!.examples![0]
  assert.deepEqual(pairingOf('starknet_getBlockWithTxHashes').params, [
    { name: 'block_id', value: { block_number: 2 } },
  ])
  const { params, description } = pairingOf('eth_getFilterLogs')
  assert.match(String(params[0].value), /^0x[0-9a-f]+$/)
  assert.match(description!, /^After eth_newFilter \[\{"fromBlock"/)
})
