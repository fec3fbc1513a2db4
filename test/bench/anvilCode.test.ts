import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEVM } from '@ethereumjs/evm'
import { Address } from '@ethereumjs/util'
import { dispatcherCode, dispatcherInput, emitterCode } from '../../bench/logs/anvilCode.js'
import type { Log } from '../../src/chain/eth/types.js'

const DISPATCHER = new Uint8Array(20).fill(0xd1)

/** What the logs log when the code stands at their addresses and the dispatcher is called with them. */
async function execute(logs: Log[], code = emitterCode()): Promise<Log[] | undefined> {
  const evm = await createEVM()
  const put = (address: Uint8Array, bytes: Uint8Array) => evm.stateManager.putCode(new Address(address), bytes)
  for (const { address } of logs) await put(address, code)
  await put(DISPATCHER, dispatcherCode())
  const call = { to: new Address(DISPATCHER), data: dispatcherInput(logs), gasLimit: 10_000_000n }
  const { execResult } = await evm.runCall(call)
  if (execResult.exceptionError) return undefined
  return execResult.logs!.map(([address, topics, data]) => ({ address, topics, data }))
}

const filled = (length: number, value: number) => new Uint8Array(length).fill(value)

test('the contracts of the benchmark emit the requested logs in order, with any number of topics and any length of data', async () => {
  const logs: Log[] = [4, 0, 1, 3, 2].map((topics, i) => ({
    address: filled(20, i % 2 === 0 ? 0x11 : 0xee),
    topics: Array.from({ length: topics }, (_, topic) => filled(32, topic * 16 + i + 1)),
    data: filled([0, 32, 7, 224, 33][i], i + 1),
  }))
  assert.deepEqual(await execute(logs), logs)
})

test('the dispatcher fails when a contract does', async () => {
  const log: Log = { address: filled(20, 0x11), topics: [], data: new Uint8Array(0) }
  assert.equal(await execute([log], Uint8Array.of(0xfe)), undefined)
})
