import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { type Running, spawnNode } from '../support/cairn.js'

const MODULE = new URL('../../src/cli/stopSignal.js', import.meta.url).href

/** Spawns a process that listens, prints what it hears, and continues with `work`. */
function spawnListener(work: string): Running {
  const code = `import { listenForStop } from ${JSON.stringify(MODULE)}
    const stop = listenForStop(() => console.log('stopping'))
    setInterval(() => {}, 1000)
    console.log('listening')
    ${work}`
  return spawnNode(['--input-type=module', '--eval', code])
}

/** Sends the signal again and again until the process has ended. */
async function insist({ child, ended }: Running, signal: NodeJS.Signals) {
  const timer = setInterval(() => child.kill(signal), 50)
  const end = await ended
  clearInterval(timer)
  return end
}

test('the first signal aborts, and its number is in the exit code', async () => {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const running = spawnListener(`stop.signal.addEventListener('abort', () => process.exit(stop.exitCode()))`)
    await running.waitFor('stdout', /listening/)
    running.child.kill(signal)
    assert.equal((await running.ended).code, code)
  }
})

test('without a signal the exit code is 0', async () => {
  assert.equal((await spawnListener('process.exit(stop.exitCode())').ended).code, 0)
})

test('a second signal ends a process that continues', async () => {
  const running = spawnListener('')
  await running.waitFor('stdout', /listening/)
  const { code, signal, stdout } = await insist(running, 'SIGINT')
  assert.ok(signal === 'SIGINT' || code === 130, `${signal} ${code}`)
  assert.equal(stdout, 'listening\nstopping\n')
})

test('a second signal ends a process whose JavaScript does not hear it', async () => {
  const work = `stop.signal.addEventListener('abort', () => setTimeout(() => {
      console.log('deaf')
      for (;;) {}
    }, 1000))`
  const running = spawnListener(work)
  await running.waitFor('stdout', /listening/)
  running.child.kill('SIGINT')
  await running.waitFor('stdout', /deaf/)
  assert.equal((await insist(running, 'SIGINT')).signal, 'SIGINT')
})

test('the loss of the parent of an IPC channel aborts once, like SIGTERM', async () => {
  const code = `import { listenForStop } from ${JSON.stringify(MODULE)}
    const stop = listenForStop()
    setInterval(() => {}, 1000)
    stop.signal.addEventListener('abort', () => process.exit(stop.exitCode()))
    process.stdout.write('listening')`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  await once(child.stdout!, 'data')
  child.disconnect()
  assert.deepEqual(await once(child, 'exit'), [143, null])
})
