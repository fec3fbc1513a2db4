import { isMainThread } from 'node:worker_threads'
import { defineMethod } from '../../src/rpc/core/method.js'
import { METHODS as CAIRN_METHODS } from '../../src/rpc/methods.js'
import { signals, METHODS as TEST_METHODS } from './testMethods.js'

/* Cairn's methods and those of the tests, with two that show where they run: they have names of methods that acceptor
 * threads run themselves. */

const value = { name: 'value', schema: {} }

const clientVersion = defineMethod({
  name: 'web3_clientVersion',
  summary: 'The kind of thread that runs it.',
  cost: 'point',
  classes: ['node'],
  params: [],
  result: value,
  errors: [],
  handler: () => (isMainThread ? 'main' : 'acceptor'),
})

const gasPrice = defineMethod({
  ...clientVersion,
  name: 'eth_gasPrice',
  summary: 'Ends an acceptor thread.',
  handler: () => (isMainThread ? 'main' : process.exit()),
})

const hold = defineMethod({
  ...clientVersion,
  name: 'test_hold',
  summary: 'Answers once the process of the test calls what it emits.',
  handler: () =>
    new Promise((resolve) => {
      signals.emit('held', () => resolve('held'))
    }),
})

/** The method table of the tests of acceptor threads. */
export const METHODS = new Map([
  ...CAIRN_METHODS,
  ...TEST_METHODS,
  [clientVersion.name, clientVersion],
  [gasPrice.name, gasPrice],
  [hold.name, hold],
])
