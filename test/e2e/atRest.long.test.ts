import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { runCairnOk, startDefaultCairn } from '../support/cairn.js'
import { FIXTURE_FOLDER } from '../support/chains/fixture.js'
import { TOKEN, TRANSFER_TOPIC } from '../support/chains/fixtureChain.js'
import { ask, send } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { until } from '../support/until.js'

/* What a server of the bundled chain needs without requests. */

const MAX_MEGABYTES = 150
/** Part of the memory that requests needed which a server may keep afterwards: glibc keeps freed pieces between used
 *  ones. */
const KEPT = 0.5
const MAX_THREADS = 8
/** Reader threads of a server with many clients, at least: two for calls, two for logs, the quick one and the spare. */
const THREADS_OF_CLIENTS = 6

const threadsOf = (pid: number) => readdirSync(`/proc/${pid}/task`).length
/** Resident memory. It includes some 60 MB of Node's program and the database, which other processes share. */
const megabytesOf = (pid: number) =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024

async function warmThreadsOf(url: string): Promise<number> {
  const { threads } = (await (await fetch(`${url}/health`)).json()) as { threads: { warm: number } }
  return threads.warm
}

test(`a server at rest has at most ${MAX_THREADS} threads and ${MAX_MEGABYTES} MB, and gives memory back after many clients`, {
  skip: process.platform !== 'linux' && 'there is no /proc',
}, async (t) => {
  const datadir = temporaryDirectory(t)
  await runCairnOk(['import', '--datadir', datadir, FIXTURE_FOLDER])
  const server = await startDefaultCairn(t, ['--datadir', datadir, '--open', '--inline-calls', 'off'])
  const pid = server.running.child.pid!
  const isAtRest = (megabytes: number) => threadsOf(pid) <= MAX_THREADS && megabytesOf(pid) <= megabytes
  await until(() => isAtRest(MAX_MEGABYTES))
  const before = megabytesOf(pid)
  assert.equal((await ask(server.url, 'eth_chainId')).result, '0x4f25')

  const logs = { method: 'eth_getLogs', params: [{ fromBlock: '0x1', address: TOKEN, topics: [TRANSFER_TOPIC] }] }
  const call = { method: 'eth_call', params: [{ to: TOKEN, data: '0x18160ddd' }, 'latest'] }
  const trace = { method: 'debug_traceBlockByNumber', params: ['latest'] }
  const batch = Array.from({ length: 60 }, (_, id) => ({ jsonrpc: '2.0', id, ...[logs, call, trace][id % 3] }))
  const ended = new AbortController()
  const clients = Array.from({ length: 8 }, async () => {
    while (!ended.signal.aborted) await send(server.url, batch)
  })
  // What one thread needs is too little to show what is given back.
  await until(async () => (await warmThreadsOf(server.url)) >= THREADS_OF_CLIENTS)
  assert.ok(threadsOf(pid) > MAX_THREADS)
  ended.abort()
  await Promise.all(clients)
  const most = megabytesOf(pid)
  await until(() => isAtRest(before + (most - before) * KEPT))
})
