import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { formatData } from '../../../src/lib/hex.js'
import { startCairn } from '../../support/cairn.js'
import { ADDRESSES, openInventedChain, TOPICS } from '../../support/chains/inventedChain.js'
import { parseExposition } from '../../support/exposition.js'
import { seededRandom } from '../../support/random.js'
import type { LogFilterJson, SubscriberReport, WantedLog } from '../../support/subscriberProcess.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { THOROUGH } from '../../support/thorough.js'

const [SUBSCRIBERS, BLOCKS, REORGS] = THOROUGH ? [2_000, 500, 30] : [500, 100, 8]
const LOGS_PER_BLOCK = 250
/** Measured: 355 MB. */
const MAX_MEMORY_BYTES = 800_000_000

test(`${SUBSCRIBERS} subscribers through ${BLOCKS} blocks of 250 logs and ${REORGS} reorgs neither miss nor double a log, in bounded memory`, async (t) => {
  const datadir = temporaryDirectory(t)
  const random = seededRandom(2_000)
  const chain = await openInventedChain(datadir, { random: seededRandom(14), logsPerBlock: LOGS_PER_BLOCK })
  t.after(() => chain.close())
  const server = await startCairn(t, ['--datadir', datadir, '--open', '--metrics'])
  const clients = fork(fileURLToPath(new URL('../../support/subscriberProcess.js', import.meta.url)))
  t.after(() => void clients.kill())
  const heads = new Set<unknown>()
  clients.on('message', (message) => heads.add(message))
  const ended = once(clients, 'exit').then(([code]) => assert.fail(`the clients ended with ${code}`))
  const untilSeen = async (message: unknown) => {
    while (!heads.has(message)) await Promise.race([once(clients, 'message'), ended])
  }
  clients.send({ url: server.socketUrl, filters: Array.from({ length: SUBSCRIBERS }, (_, i) => filterOf(i, random)) })
  await untilSeen('ready')

  let mostBytes = 0
  let reorgs = 0
  for (let added = 0; added < BLOCKS; ) {
    const isReorg = reorgs < REORGS && added >= ((reorgs + 0.5) * BLOCKS) / REORGS
    const removed = isReorg ? 1 + random.below(Math.min(8, chain.blocks.length - 1)) : 0
    if (isReorg) reorgs++
    const count = isReorg ? removed + 1 : 1
    chain.change(removed, count)
    added += count
    // Some changes come together.
    if (random.below(3) > 0) await untilSeen(formatData(chain.blocks.at(-1)!.block.hash))
    if (added % 10 === 0) mostBytes = Math.max(mostBytes, await readMemory(server.url))
  }
  assert.equal(reorgs, REORGS)
  const path = join(temporaryDirectory(t), 'logs.ndjson')
  writeFileSync(
    path,
    wantedLogs(chain)
      .map((log) => `${JSON.stringify(log)}\n`)
      .join(''),
  )
  // The logs of a block come after its head, and before the next one.
  chain.change(0, 1)
  const last = formatData(chain.blocks.at(-1)!.block.hash)
  await untilSeen(last)
  const reported = once(clients, 'message')
  clients.send({ path, last })
  const [{ faults, notifications }] = (await Promise.race([reported, ended])) as [SubscriberReport]
  assert.deepEqual(faults, [])
  t.diagnostic(`${notifications} notifications, at most ${Math.round(mostBytes / 1e6)} MB`)
  assert.ok(notifications > SUBSCRIBERS * BLOCKS)
  assert.ok(mostBytes < MAX_MEMORY_BYTES, `${mostBytes} bytes`)
})

/** Nearly all want about one log in 180, some those of a contract, a few everything. */
function filterOf(i: number, random: ReturnType<typeof seededRandom>): LogFilterJson {
  const one = (values: Uint8Array[]) => [formatData(values[random.below(values.length)])]
  if (i < 2) return { address: [], topics: [] }
  return { address: one(ADDRESSES), topics: i < 12 ? [] : [one(TOPICS)] }
}

/** The logs of all blocks but the first, which was there before the subscribers. */
function wantedLogs(chain: Awaited<ReturnType<typeof openInventedChain>>): WantedLog[] {
  return chain.blocks.slice(1).flatMap(({ block, receipts }) =>
    receipts
      .flatMap(({ logs }) => logs)
      .map(({ address, topics }, i) => ({
        ...{ blockHash: formatData(block.hash), logIndex: `0x${i.toString(16)}` },
        ...{ address: formatData(address), topics: topics.map(formatData) },
      })),
  )
}

async function readMemory(url: string): Promise<number> {
  const page = await (await fetch(`${url}/metrics`)).text()
  return parseExposition(page).value('process_resident_memory_bytes')!
}
