import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { packagePath } from '../../src/store/open.js'
import { type Ended, type Running, spawnNode, spawnProgram } from '../support/cairn.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'

/* A server ends with what started it. `ended` waits for standard output to close, which every process below holds. */

const MAIN = packagePath('dist/cli/main.js')
const READY = /^ready http:\S+$|^Cairn answers\.$/m
const skip = !existsSync(packagePath('node_modules/.cairn-stamp')) && 'not started by npm test: npm start would install'

/** As in a user's shell: npm sets variables for what it runs, this test included. */
const asUser = Object.fromEntries(
  Object.keys(process.env)
    .filter((name) => /^npm_/.test(name))
    .map((name) => [name, undefined]),
)

function start(t: TestContext, command: string, args: readonly string[]): Running {
  const env = { ...asUser, CAIRN_PORT: '0', CAIRN_DATADIR: temporaryDirectory(t) }
  return spawnProgram(command, args, { env, cwd: packagePath('.') })
}

/** Sends a signal to what was started, once it serves, and waits until nothing of it is left. */
async function signalled({ child, waitFor, ended }: Running, signal: NodeJS.Signals): Promise<Ended> {
  await waitFor('stdout', READY)
  child.kill(signal)
  return ended
}

for (const signal of ['SIGTERM', 'SIGINT', 'SIGKILL'] as const) {
  test(`the server of npm start ends after ${signal} to npm`, { skip }, async (t) => {
    await signalled(start(t, 'npm', ['start']), signal)
  })

  // npm start passes SIGTERM and SIGINT on to it.
  if (signal !== 'SIGKILL' && !THOROUGH) continue
  test(`the server of scripts/start.mjs ends after ${signal} to it`, { skip }, async (t) => {
    await signalled(start(t, process.execPath, [packagePath('scripts/start.mjs')]), signal)
  })
}

// npx passes SIGINT to a shell that waits for the program to end by itself, and stays itself: nothing reaches the
// server.
for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  test(`the server of npx ends after ${signal} to npx`, { skip }, async (t) => {
    await signalled(start(t, 'npx', ['--no-install', 'cairn', 'serve', '--fixture', 'bundled']), signal)
  })
}

test('npm start & in a shell ends after SIGINT to that process', { skip }, async (t) => {
  const { child, ended, waitFor } = start(t, 'sh', ['-c', 'npm start & echo "pid $!"; wait'])
  const [, pid] = await waitFor('stdout', /^pid (\d+)$/m)
  await waitFor('stdout', READY)
  process.kill(Number(pid), 'SIGINT')
  await ended
  assert.equal(child.signalCode, null)
})

const PARENT = `const { spawn } = require('node:child_process')
  spawn(process.execPath, [${JSON.stringify(MAIN)}, 'serve', '--fixture', 'bundled', '--port', '0'], { stdio: 'inherit' })`

test('the server of --fixture ends after SIGKILL to the process that started it', async () => {
  await signalled(spawnNode(['-e', PARENT]), 'SIGKILL')
})

test('below setsid it stays', { skip: process.platform !== 'linux' && 'Linux only' }, async () => {
  const command = `setsid ${process.execPath} ${MAIN} serve --fixture bundled --port 0 & echo "pid $!"; wait`
  const { child, ended, waitFor } = spawnProgram('sh', ['-c', command])
  const [, url] = await waitFor('stdout', /^ready (\S+)$/m)
  const [, pid] = await waitFor('stdout', /^pid (\d+)$/m)
  const shellEnded = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await shellEnded
  // Longer than the watch of parents takes to notice.
  for (const until = Date.now() + 2500; Date.now() < until; await setTimeout(100)) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    assert.equal(response.status, 200)
  }
  process.kill(Number(pid), 'SIGTERM')
  await ended
})
