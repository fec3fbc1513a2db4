import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { openForWriting } from '../../src/store/openForWriting.js'
import { openWritableChain } from '../../src/sync/chainState.js'
import { startCairn } from '../support/cairn.js'
import { fixtureGenesis } from '../support/chains/fixture.js'
import { seededRandom } from '../support/random.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'

/* A server that is stopped while its threads recover public keys, for clients that have left. */

const THREADS = 2
const STOPS = 2

/** Recovers one public key after another (precompile 1) until the gas is used up. */
const RECOVERER = '0x00000000000000000000000000000000000c0de0'
const RECOVERER_CODE = `0x6001600052601b602052600160405260016060525b602060806080600060015afa50601456`
const NOTHING = '0x00000000000000000000000000000000000c0de1'

/** A data directory with a chain of one block whose state holds that contract. */
async function recovererChain(): Promise<string> {
  const datadir = temporaryDirectory({ after })
  const db = openForWriting(datadir)
  const genesis = fixtureGenesis() as { alloc: { [address: string]: object } }
  genesis.alloc[RECOVERER] = { balance: '0x0', code: RECOVERER_CODE }
  await openWritableChain(db, { genesis }, 'execute')
  db.close()
  return datadir
}

/** Opens a client that has sent a call that runs for seconds. */
async function askEndlessly(url: string): Promise<Socket> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_call', params: [{ to: RECOVERER }, 'latest'] })
  const head = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(`${head}\r\n\r\n${body}`)
  return socket
}

test('SIGTERM amid calls of ECRECOVER ends the server with 0', async (t) => {
  const datadir = await recovererChain()
  const random = seededRandom(12)
  for (let stop = 0; stop < STOPS; stop++) {
    const args = [
      '--open',
      '--datadir',
      datadir,
      '--evm-threads',
      String(THREADS),
      '--scan-threads',
      '1',
      '--inline-calls',
      'off',
    ]
    const server = await startCairn(t, args)
    assert.equal(await resultOf(server.url, 'eth_call', [{ to: NOTHING }, 'latest']), '0x')
    const clients = await Promise.all(Array.from({ length: THREADS }, () => askEndlessly(server.url)))
    await setTimeout(random.below(100))
    for (const client of clients) client.resetAndDestroy()
    const { code, signal, stderr } = await server.stop()
    assert.deepEqual({ code, signal, stderr }, { code: 0, signal: null, stderr: '' })
  }
})
