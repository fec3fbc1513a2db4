import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { WebSocket } from 'ws'
import { formatFelt } from '../../src/chain/starknet/felt.js'
import { runCairnOk, startCairn } from '../support/cairn.js'
import { makeChain, toRpcJson } from '../support/chains/l2Blocks.js'
import { temporaryDirectory } from '../support/temporary.js'

// starknet.js looks for it when it is loaded; Node 20 has none.
Object.assign(globalThis, { WebSocket })
const { WebSocketChannel } = await import('starknet')

/* WebSocketChannel of starknet.js against the program, while other processes import layer-2 blocks. */

test('starknet.js is notified of the blocks that another process imports', async (t) => {
  const datadir = temporaryDirectory(t)
  const chain = makeChain(0, 9)
  const importBlocks = async (from: number, to: number) => {
    const path = join(temporaryDirectory(t), 'l2.ndjson')
    const lines = chain.slice(from, to + 1).map((block) => `${JSON.stringify(toRpcJson(block))}\n`)
    writeFileSync(path, lines.join(''))
    await runCairnOk(['import', '--datadir', datadir, path])
  }
  await importBlocks(0, 4)
  const server = await startCairn(t, ['--datadir', datadir, '--open'])
  const channel = new WebSocketChannel({ nodeUrl: server.socketUrl, autoReconnect: false })
  t.after(() => channel.disconnect())
  await channel.waitForConnection()
  const subscription = await channel.subscribeNewHeads()
  const seen: string[] = []
  const untilSeen = (count: number) =>
    new Promise<void>((resolve) => {
      look = () => {
        if (seen.length >= count) resolve()
      }
      look()
    })
  let look = () => {}
  subscription.on((header) => {
    seen.push(String(header.block_hash))
    look()
  })
  await importBlocks(5, 7)
  await untilSeen(3)
  await importBlocks(8, 8)
  await untilSeen(4)
  const hashes = chain.slice(5, 9).map(({ hash }) => formatFelt(hash!))
  assert.deepEqual(seen, hashes)
  assert.equal(await subscription.unsubscribe(), true)
  await assert.rejects(channel.subscribeNewHeads({ blockIdentifier: 99 }), /"code":24,"message":"Block not found"/)
  await assert.rejects(channel.unsubscribe('0x1'), /"code":66,"message":"Invalid subscription id"/)
  await importBlocks(9, 9)
  const last = await channel.sendReceive('starknet_blockNumber')
  assert.equal(last, 9)
  assert.deepEqual(seen, hashes)
})
