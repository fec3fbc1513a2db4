import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MethodClass } from '../../../src/rpc/core/methodClasses.js'
import { ALL_METHODS } from '../../../src/rpc/methods.js'

const names = (methods: typeof ALL_METHODS) => methods.map(({ name }) => name).sort()
const isIn = (...classes: MethodClass[]) => {
  return (method: (typeof ALL_METHODS)[number]) => classes.some((each) => method.classes.includes(each))
}

test('no method is outside of the class that limits what it does', () => {
  const missing = (wanted: typeof ALL_METHODS, ...classes: MethodClass[]) =>
    assert.deepEqual(names(wanted.filter((method) => !isIn(...classes)(method))), [], classes.join(', '))
  missing(
    ALL_METHODS.filter(({ isTrace }) => isTrace),
    'traces',
  )
  missing(
    ALL_METHODS.filter(({ cost }) => cost === 'evm'),
    ...(['calls', 'traces', 'state'] as const),
  )
  missing(
    ALL_METHODS.filter(({ usesSession }) => usesSession),
    ...(['stream', 'abi'] as const),
  )
  missing(
    ALL_METHODS.filter(({ name }) => /logs|events/i.test(name) || name === 'eth_newFilter'),
    'logs',
  )
  missing(
    ALL_METHODS.filter(({ params }) => params[0]?.name === 'call' || params[0]?.name === 'calls'),
    'calls',
  )
  missing(
    ALL_METHODS.filter(({ name }) => /_send/.test(name)),
    'send',
  )
})
