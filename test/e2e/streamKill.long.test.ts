import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { spawnCairn, spawnNode } from '../support/cairn.js'
import type { TextRow } from '../support/chains/exportedFiles.js'
import { importFixture } from '../support/chains/fixtureDatabase.js'
import { freePort } from '../support/freePort.js'
import { seededRandom } from '../support/random.js'
import { askStream, readLines } from '../support/streamClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'

const READER = fileURLToPath(new URL('../support/streamReaderProcess.js', import.meta.url))
const KILLS = THOROUGH ? 20 : 1

test('a stream resumes after kill -9 of the server and of its reader, and nothing is missing or twice', async () => {
  const datadir = temporaryDirectory({ after })
  await importFixture(datadir)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/v3/stream`
  const args = ['serve', '--datadir', datadir, '--open', '--port', String(port), '--log-level', 'error']
  const start = async () => {
    const running = spawnCairn([...args, '--stream-rate', '1', '--streams', '2'], {
      CAIRN_SCAN_THREADS: '1',
      CAIRN_EVM_THREADS: '1',
    })
    await running.waitFor('stdout', /^ready /m)
    return running
  }
  let server = await start()
  after(() => void server.child.kill('SIGKILL'))
  const path = join(temporaryDirectory({ after }), 'kept.json')
  const { below } = seededRandom(51)
  for (let kill = 0; kill < 2 * KILLS; kill++) {
    const reader = spawnNode([READER, url, path])
    // Each run reads something before the one or the other is killed in the middle of a response.
    await Promise.race([reader.waitFor('stdout', /read \d+/), reader.ended])
    await new Promise((resolve) => setTimeout(resolve, below(150)))
    if (kill % 2 === 0) {
      server.child.kill('SIGKILL')
      await server.ended
      server = await start()
      await Promise.race([reader.waitFor('stdout', /(read \d+\n[\s\S]*){2}|done/), reader.ended])
    }
    reader.child.kill('SIGKILL')
    await reader.ended
  }
  const last = await spawnNode([READER, url, path]).ended
  assert.match(last.stdout, /done\n$/)
  const { logs } = JSON.parse(readFileSync(path, 'utf8')) as { logs: TextRow[] }
  const whole = await askStream(url, { from: 0, logs: [{}] })
  assert.equal(whole.status, 200)
  assert.ok(whole.rows.log.length > 5_000)
  assert.deepEqual(logs, whole.rows.log)
})

/** Starts a server whose streams send a megabyte a second, and opens one of all logs. */
async function openSlowStream() {
  const datadir = temporaryDirectory({ after })
  await importFixture(datadir)
  const port = await freePort()
  const args = ['serve', '--datadir', datadir, '--open', '--port', String(port), '--stream-rate', '1']
  const server = spawnCairn(args, { CAIRN_SCAN_THREADS: '1', CAIRN_EVM_THREADS: '1' })
  await server.waitFor('stdout', /^ready /m)
  const response = await fetch(`http://127.0.0.1:${port}/v3/stream`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ from: 0, logs: [{}] }),
  })
  return { server, response }
}

test('a response that a kill cuts off has no end, and the reader notices', async () => {
  const { server, response } = await openSlowStream()
  const chunks: Uint8Array[] = []
  const read = async () => {
    for await (const chunk of response.body!) {
      chunks.push(chunk as Uint8Array)
      server.child.kill('SIGKILL')
    }
  }
  await assert.rejects(read(), /terminated/)
  const text = Buffer.concat(chunks).toString()
  const { rows, end } = readLines(text.slice(0, text.lastIndexOf('\n') + 1))
  assert.ok(rows.log.length > 0)
  assert.equal(end, undefined)
})

test('a server that stops ends its streams with a whole response', async () => {
  const { server, response } = await openSlowStream()
  let text = ''
  for await (const chunk of response.body!) {
    // A second signal would not wait for responses.
    if (text === '') server.child.kill('SIGTERM')
    text += Buffer.from(chunk as Uint8Array).toString('latin1')
  }
  assert.equal((await server.ended).code, 0)
  const { rows, end } = readLines(text)
  assert.ok(end!.nextBlock <= end!.head!.number, 'it was read whole before')
  assert.equal(Number(rows.log.at(-1)!.block_number) < end!.nextBlock, true)
})
