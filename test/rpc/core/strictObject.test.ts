import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bindCall } from '../../../src/rpc/core/boundCall.js'
import type { RpcContext } from '../../../src/rpc/core/context.js'
import { InvalidValue } from '../../../src/rpc/core/errors.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import type { JsonSchema, Method } from '../../../src/rpc/core/method.js'
import { index, maybe, quantity } from '../../../src/rpc/core/params.js'
import { strictObject } from '../../../src/rpc/core/strictObject.js'
import { ALL_METHODS, METHODS } from '../../../src/rpc/methods.js'
import { type ParamObject, paramObjects, sampleOf } from '../../support/paramObjects.js'

/* Objects in which an ignored member would change the answer, in every parameter of every method. */

/** Objects that may have unknown members: wallets send them with calls, and a block is named by one member. */
const isOpen = ({ title, properties }: JsonSchema): boolean =>
  title === 'call' || (typeof properties === 'object' && properties !== null && 'requireCanonical' in properties)
const isSelector = ({ properties, required }: JsonSchema): boolean =>
  Array.isArray(required) && required.length === 1 && Object.keys(properties as object).length === 1

const objects = ALL_METHODS.flatMap((method) => [...paramObjects(method, isOpen)])
const strict = objects.filter(({ schema }) => schema.additionalProperties === false)

/** The parameters as the handler gets them. With `schema`, the object among them that it describes is read as what it
 *  is. */
function decode(method: Method, params: unknown[], schema?: JsonSchema): readonly unknown[] {
  const args = bindCall(method, params).args()
  if (method.name !== 'eth_subscribe') return args
  // It decodes its options when it knows of what kind they are.
  const kind = 'transactionHashes' in ((schema?.properties as object) ?? {}) ? 'transactionReceipts' : 'logs'
  let topic: unknown
  const subscriber = { subscribe: (wanted: unknown) => (topic = wanted) }
  const chain = { holdsBlocks: () => true }
  const context = { session: { subscriber }, limits: DEFAULT_LIMITS, chain } as unknown as RpcContext
  method.handler(context, kind, args[1])
  return [topic]
}

const decodeWith = ({ method, schema, paramsWith, least }: ParamObject, members: object) =>
  decode(method, paramsWith({ ...least, ...members }), schema)

test('every object of every parameter refuses members that it does not have, or is a call or a block', () => {
  const open = objects.filter(({ schema }) => schema.additionalProperties !== false)
  assert.deepEqual(
    open.filter(({ schema }) => !isOpen(schema) && !isSelector(schema)).map(({ place }) => place),
    [],
    'use strictObject, or add it to the open ones here',
  )
  const methods = new Set(strict.map(({ method }) => method.name))
  for (const name of [
    'eth_getLogs',
    'eth_newFilter',
    'eth_subscribe',
    'eth_call',
    'eth_simulateV1',
    'debug_traceCall',
  ]) {
    assert.ok(methods.has(name), name)
  }
  for (const object of strict) {
    const refusal = { name: 'RpcError', code: -32602, message: /unknown member "zzqx"/ }
    assert.throws(() => decodeWith(object, { zzqx: null }), refusal, object.place)
    readOrRefusal(object, {})
  }
})

test('every member of every such object is read in any letter case and by its aliases', () => {
  for (const object of strict) {
    const properties = object.schema.properties as { [name: string]: JsonSchema }
    for (const [name, schema] of Object.entries(properties)) {
      if (name === 'tracerConfig') continue // needs a tracer; its members are objects of their own here
      const value = sampleOf(schema)
      const [, original = name] = /^The same as `(.*)`\.$/.exec(String(schema.description)) ?? []
      const wanted = readOrRefusal(object, { [original]: value })
      const { [original]: _, ...others } = object.least
      const bare = { ...object, least: others }
      for (const spelling of [name, name.toUpperCase(), name[0].toUpperCase() + name.slice(1)]) {
        assert.deepEqual(readOrRefusal(bare, { [spelling]: value }), wanted, `${object.place}: ${spelling}`)
      }
    }
  }
})

/** What is read, or the words in which a combination is refused. */
function readOrRefusal(object: ParamObject, members: object): unknown {
  try {
    return decodeWith(object, members)
  } catch (error) {
    assert.doesNotMatch((error as Error).message, /unknown member/)
    return (error as Error).message.toLowerCase()
  }
}

const pair = strictObject({ number: index, time: maybe(quantity) }, { aliases: { blockNumber: 'number' } })
const refuses = (value: unknown, message: string) =>
  assert.throws(() => pair.decode(value, 'x'), new InvalidValue(message))

test('an unknown member is refused by name, with the nearest known one', () => {
  refuses({ number: '0x1', tine: '0x2' }, 'x: unknown member "tine" (did you mean time?)')
  refuses({ blokNumber: '0x1' }, 'x: unknown member "blokNumber" (did you mean blockNumber?)')
  refuses({ zzqx: 1 }, 'x: unknown member "zzqx", want number, time, blockNumber')
  refuses(
    JSON.parse('{"__proto__": {"number": "0x1"}}'),
    'x: unknown member "__proto__", want number, time, blockNumber',
  )
  refuses({ ['y'.repeat(100_000)]: 1 }, `x: unknown member "${'y'.repeat(80)}…", want number, time, blockNumber`)
})

test('spellings of one member must agree; null is absent', () => {
  assert.deepEqual(pair.decode({ number: '0x1', blockNumber: '0x1', Number: null }, 'x'), {
    number: 1,
    time: undefined,
  })
  refuses({ number: '0x1', blockNumber: '0x2' }, 'x: number and blockNumber differ; they are the same member')
  refuses({ time: '0x1' }, 'x.number: missing')
  refuses({ BlockNumber: '1' }, 'x.BlockNumber: expected a quantity with 0x prefix, got "1"')
})

test('the options inside of a muxTracer are those of their tracers', () => {
  const config = (inner: object) => [sampleOf({ title: 'HASH32' }), { tracer: 'muxTracer', tracerConfig: inner }]
  const method = METHODS.get('debug_traceTransaction')!
  assert.throws(
    () => decode(method, config({ callTracer: { withLogs: true } })),
    /"withLogs" \(did you mean withLog\?\)/,
  )
  assert.doesNotThrow(() => decode(method, config({ callTracer: { withLog: true } })))
})

test('options of a tracer without the tracer are refused, opposites of options are read', () => {
  const method = METHODS.get('debug_traceTransaction')!
  const read = (config: object) => decode(method, [sampleOf({ title: 'HASH32' }), config])[1]
  assert.throws(() => read({ tracerConfig: { withLog: true } }), /config\.tracerConfig: expected a tracer beside it/)
  assert.deepEqual(read({ tracerConfig: {} }), read({}))
  assert.deepEqual(read({ disableMemory: false }), read({ enableMemory: true }))
  assert.deepEqual(read({ disableReturnData: true }), read({ enableReturnData: false }))
})
