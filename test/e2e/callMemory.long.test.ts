import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { startCairn } from '../support/cairn.js'
import { asCode, LOG_BOMB, MEMORY_BOMBS, output } from '../support/chains/bombs.js'
import { createGenesis, writeGenesisChain } from '../support/chains/genesisChain.js'
import { ask } from '../support/rpcClient.js'

/* Calls that take much memory, return much and log much, on a chain whose blocks may have any amount of gas. */

const CODES = {
  ...MEMORY_BOMBS,
  LOG_BOMB,
  LONG: output(1_000_000, 'return'),
  TOO_LONG: output(1_000_001, 'return'),
  LONG_REVERT: output(1_000_000, 'revert'),
  TOO_LONG_REVERT: output(1_000_001, 'revert'),
}
const names = Object.keys(CODES)
const addressOf = (name: keyof typeof CODES) => `0x${(0xb0_0000 + names.indexOf(name)).toString(16).padStart(40, '0')}`
const alloc = Object.fromEntries(
  Object.entries(CODES).map(([name, code]) => [
    addressOf(name as keyof typeof CODES),
    { balance: '0x1', code: asCode(code) },
  ]),
)
const OPTIONS = ['--call-memory', '16', '--max-return-data', '1000000', '--evm-threads', '1', '--call-timeout', '60000']
const OUT_OF_MEMORY = { code: -32000, message: 'out of memory budget: the call needs more than 16777216 bytes' }

const datadir = await writeGenesisChain({ after }, createGenesis(alloc, { forks: 'cancun', gasLimit: 2n ** 50n }))
const { url, running } = await startCairn({ after }, ['--datadir', datadir, '--open', ...OPTIONS])

test('a call that needs too much memory is refused, in eth_call and eth_estimateGas', async () => {
  for (const name of ['MEMORY', 'RETURN_DATA', 'TRANSIENT', 'ACCOUNTS'] as const) {
    for (const method of ['eth_call', 'eth_estimateGas']) {
      assert.deepEqual((await ask(url, method, [{ to: addressOf(name) }, 'latest'])).error, OUT_OF_MEMORY, name)
    }
    // What an estimate asks before it runs anything has nothing to do with the call before.
    const next = await ask(url, 'eth_estimateGas', [
      { to: `0x${Buffer.from(name).toString('hex').padEnd(40, '0').slice(0, 40)}` },
    ])
    assert.equal(next.result, '0x5208')
  }
  const logs = await ask(url, 'eth_call', [{ to: addressOf('LOG_BOMB') }, 'latest'])
  assert.deepEqual(logs.error, { code: -32000, message: 'out of gas' })
})

test('data is returned up to its limit, and named when it is longer', async () => {
  const call = (name: keyof typeof CODES, method = 'eth_call') => ask(url, method, [{ to: addressOf(name) }, 'latest'])
  const zeros = `0x${'00'.repeat(1_000_000)}`
  assert.equal((await call('LONG')).result, zeros)
  const tooLong = { code: -32000, message: 'return data of 1000001 bytes exceeds the limit of 1000000' }
  assert.deepEqual((await call('TOO_LONG')).error, tooLong)
  const tooLongRevert = {
    code: -32000,
    message: 'execution reverted: revert data of 1000001 bytes exceeds the limit of 1000000',
  }
  for (const method of ['eth_call', 'eth_estimateGas']) {
    assert.deepEqual((await call('LONG_REVERT', method)).error, { code: 3, message: 'execution reverted', data: zeros })
    assert.deepEqual((await call('TOO_LONG_REVERT', method)).error, tooLongRevert)
  }
})

const options = { skip: process.platform === 'linux' ? false : 'the peak of memory is read from /proc' }
test('bombs one after another and together leave the process small', options, async () => {
  const peakMib = () =>
    Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${running.child.pid}/status`, 'utf8'))![1]) / 1024
  const before = peakMib()
  for (const name of ['MEMORY', 'RETURN_DATA', 'LOG_BOMB'] as const) {
    // Each with data of its own: equal calls would be one run.
    const calls = Array.from({ length: 6 }, (_, i) => ask(url, 'eth_call', [{ to: addressOf(name), data: `0x0${i}` }]))
    for (const { error } of await Promise.all(calls)) assert.equal(error!.code, -32000)
  }
  assert.ok(peakMib() - before < 400, `${before} MiB before, ${peakMib()} after`)
})
