import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeBlock } from '../../../src/chain/eth/block.js'
import type { Block } from '../../../src/chain/eth/types.js'
import { equalBytes } from '../../../src/lib/bytes.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { noProgress } from '../../../src/lib/progress.js'
import { connectNats, type NatsLink } from '../../../src/replication/nats/connection.js'
import { createPublisher } from '../../../src/replication/nats/publisher.js'
import { HEADER_BYTES } from '../../../src/replication/nats/unitMessages.js'
import { createReplicatedChain } from '../../../src/replication/replicatedChain.js'
import { openForReading } from '../../../src/store/open.js'
import { replaceBranch } from '../../../src/sync/head/reorg.js'
import { importBlocks } from '../../../src/sync/pipeline.js'
import { openBranches } from '../chains/branches.js'
import { sourceOf } from '../chains/fixture.js'
import { seededRandom } from '../random.js'
import { settingsFor } from './nats.js'
import { describeBranches } from './publishing.js'

/* A program that changes a chain and publishes it, and kills itself: `node publisherProcess.js DATADIR URL EPOCH SEED
 * BRANCHES`. The moment is EPOCH's, how often it has to come is the seed's. BRANCHES: a file of chains, each a list of
 * blocks from 1 on as hex RLP. Seed 0: it changes nothing, and ends when the chain is published. */

const [, , datadir, url, epoch, seed, path] = process.argv
const random = seededRandom(Number(seed))
const isLast = seed === '0'
const branches = (JSON.parse(readFileSync(path, 'utf8')) as string[][]).map((blocks) =>
  blocks.map((hex) => decodeBlock(new Uint8Array(Buffer.from(hex, 'hex')))),
)

/* `within`: a message is acknowledged, and its unit has more of them. */
const MOMENTS = ['committed', 'sending', 'sent', 'acknowledged', 'within'] as const
const chosen = MOMENTS[Number(epoch) % MOMENTS.length]
let left = 1 + random.below(10)

/** Ends the process if it is the chosen moment. */
function pass(moment: (typeof MOMENTS)[number]): void {
  if (!isLast && moment === chosen && --left === 0) process.kill(process.pid, 'SIGKILL')
}

const { chain } = await openBranches(datadir)
const stop = new AbortController()
const link = await connectNats(settingsFor([{ url }]), { log: silentLogger, signal: stop.signal })
const publish: NatsLink['publisher']['publish'] = async (...parameters) => {
  pass('sending')
  const sending = link.publisher.publish(...parameters)
  await new Promise(setImmediate) // the bytes are given to the socket
  pass('sent')
  const ack = await sending
  pass('acknowledged')
  const [index, count] = parameters[2]!.headers!.get('Cairn-Unit').split('/').map(Number)
  if (index < count) pass('within')
  return ack
}
const publisher = createPublisher({
  // Most blocks take several messages.
  link: { ...link, maxPayload: HEADER_BYTES + 500, publisher: { ...link.publisher, publish } as NatsLink['publisher'] },
  feed: createReplicatedChain(openForReading(datadir)),
  chain: describeBranches(chain),
  epoch: Number(epoch),
  cursorFile: join(datadir, 'publisher.json'),
  log: silentLogger,
  signal: stop.signal,
  publishBlocks: 10_000,
})
const running = publisher.run()

const head = () => chain.head.newest!
const isOn = (branch: readonly Block[]) => {
  const { hash, header } = head()
  return header.number === 0 || equalBytes(branch[header.number - 1]?.hash ?? new Uint8Array(), hash)
}

/** Appends a block, changes to another branch, or removes blocks. */
async function change(): Promise<void> {
  const { number } = head().header
  const own = branches.filter(isOn)[0]
  const kind = random.below(6)
  if (kind > 1 && number < own.length) {
    await importBlocks(chain, sourceOf([own[number]]), { progress: noProgress })
  } else if (kind === 1 && number > 2) {
    chain.head.rewind(number - 1 - random.below(2), { byOperator: true })
    chain.head.commit()
  } else {
    const other = branches[random.below(branches.length)]
    let ancestor = 0
    while (
      ancestor < number &&
      equalBytes(chain.reader.blockHash(ancestor + 1)!, other[ancestor]?.hash ?? new Uint8Array())
    )
      ancestor++
    const length = Math.min(other.length, number + 1 + random.below(3))
    if (ancestor === number || length <= number) return
    await replaceBranch(
      chain,
      ancestor,
      other.slice(ancestor, length).map((block) => ({ block })),
    )
  }
  pass('committed')
}

if (isLast) {
  const feed = createReplicatedChain(openForReading(datadir))
  const isPublished = () => publisher.status().block === feed.head() && publisher.status().sequence > 1
  while (!isPublished()) await new Promise((resolve) => setTimeout(resolve, 10))
  // Until nothing more comes: a reorg may lead to the same number.
  await new Promise((resolve) => setTimeout(resolve, 500))
  stop.abort(new Error('all is published'))
  await running
  process.exit(0)
}
for (;;) {
  await change()
  await new Promise((resolve) => setTimeout(resolve, random.below(20)))
}
