import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { formatData } from '../../src/lib/hex.js'
import { encodeReplicatedBlock } from '../../src/replication/codec/message.js'
import type { ReplicatedBlock } from '../../src/replication/codec/types.js'
import { encodeHead } from '../../src/replication/nats/messageHead.js'
import { openStream } from '../../src/replication/nats/stream.js'
import { messagesOf, type OutgoingMessage } from '../../src/replication/nats/unitMessages.js'
import { openForReading } from '../../src/store/open.js'
import { growBranch } from '../support/chains/branches.js'
import { compareServers } from '../support/compare/compareServers.js'
import { branchesDirectory, startMember } from '../support/members.js'
import { NEEDS_NATS, openLink, startNats } from '../support/nats/nats.js'
import { append, openWriterChain, type TestWriter } from '../support/nats/publishing.js'
import { encodeStored, readReplicated } from '../support/nats/replicated.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'
import { until } from '../support/until.js'

/* What `cairn serve --replica nats://…` makes of a stream that someone tampered with. */

const BLOCKS = 4

/** The messages of each block of a writer that begins at the genesis, block 1 first, each in several parts. `forge`
 *  changes block 2. */
function messagesByBlock(
  { datadir, described }: TestWriter,
  forge: (block: ReplicatedBlock) => ReplicatedBlock = (block) => block,
): OutgoingMessage[][] {
  const db = openForReading(datadir)
  const blocks = encodeStored(db, 1, BLOCKS)
  blocks[1] = encodeReplicatedBlock(forge(readReplicated(db, 2)))
  db.close()
  const genesis = { number: 0, hash: described.genesisHash }
  const about = { epoch: 3, maxBytes: 700 }
  const begun = messagesOf({ kind: 'epoch', epoch: 3, head: genesis }, { ...about, top: genesis })
  return blocks.map((block, i) => [
    ...(i === 0 ? begun : []),
    ...messagesOf(
      { kind: 'blocks', blocks: [block], finality: undefined },
      { ...about, top: blocks[i - 1] ?? genesis },
    ),
  ])
}

/** A NATS server whose stream has the messages. */
async function startStream(t: TestContext, { described }: TestWriter, messages: readonly OutgoingMessage[]) {
  const nats = await startNats(t)
  const link = await openLink(t, [nats])
  const { subject } = await openStream(link, described, { create: true })
  for (const { head, data } of messages) await link.publisher.publish(subject, data, { headers: encodeHead(head) })
  return nats
}

test(
  'forged, reordered and cut messages in the stream are refused by name, and serving continues',
  NEEDS_NATS,
  async (t) => {
    const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: BLOCKS, random: seededRandom(1821) })
    const [writer, expected] = [await openWriterChain(t), await openWriterChain(t)]
    await append(writer, trunk)
    await append(expected, trunk.slice(0, 1))
    const [first, second, third] = messagesByBlock(writer)
    assert.ok(second.length > 1)
    const forged = second.map((message, i) => {
      const data = Uint8Array.from(message.data)
      if (i === 0) data[data.length - 9] ^= 1
      return { ...message, data }
    })
    const renamed = second.map((message) => {
      const block = { number: 2, hash: new Uint8Array(32).fill(9) }
      return { ...message, head: { ...message.head, block } }
    })
    const [, otherSender] = messagesByBlock(writer, (replicated) => {
      const [first, ...others] = replicated.block.transactions
      const transactions = [{ ...first, from: new Uint8Array(20).fill(9) }, ...others]
      return { ...replicated, block: { ...replicated.block, transactions } }
    })
    const faults: [string, OutgoingMessage[], RegExp][] = [
      ['forged body', forged, /^block 2 \(0x[0-9a-f]{64}\): [\w ]+: expected |^replication message: .* \(block 2\)$/],
      ['forged sender', otherSender, /: sender of transaction 0: expected 0x[0-9a-f]{40}, the block has 0x0909/],
      ['forged hash', renamed, /hash: expected 0x0909.*, got 0x.* \(block 2\)$/],
      ['reordered', [...third, ...second], /Cairn-Number: expected 2, got 3 \(block 3, message \d+ of the stream\)$/],
      [
        'cut',
        [...second.slice(0, -1), ...third],
        /Cairn-Unit: expected 2\/2, got 1\/\d \(block 3, message \d+ of the stream\)$/,
      ],
    ]
    const right = await startMember(t, expected.datadir, [])
    const refuse = async ([name, messages, problem]: (typeof faults)[number]) => {
      const nats = await startStream(t, writer, [...first, ...messages])
      const replica = await startMember(t, await branchesDirectory(t), ['--replica', nats.url])
      await until(async () => (await replica.replication()).state === 'alarm')
      assert.match((await replica.replication()).problem!, problem, name)
      const response = await fetch(`${replica.url}/ready`)
      const { error } = (await response.json()) as { error: string }
      assert.equal(response.status, 503, name)
      assert.equal(error, `the replica has stopped: ${(await replica.replication()).problem}`, name)
      assert.equal(await replica.head(), formatData(trunk[0].hash), name)
      await compareServers(right, replica, expected.datadir)
      await replica.stop()
    }
    await Promise.all(faults.map(refuse))
  },
)
