import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import { nkeys } from '@nats-io/transport-node'
import type { EncodedBlock } from '../../../src/replication/codec/types.js'
import type { NatsLink } from '../../../src/replication/nats/connection.js'
import { encodeHead, type MessageHead } from '../../../src/replication/nats/messageHead.js'
import { openStream } from '../../../src/replication/nats/stream.js'
import { messagesOf, type OutgoingMessage } from '../../../src/replication/nats/unitMessages.js'
import { openForReading } from '../../../src/store/open.js'
import { growBranch } from '../../support/chains/branches.js'
import { NEEDS_NATS, openLink, startNats } from '../../support/nats/nats.js'
import {
  append,
  openWriterChain,
  startPublisher,
  startReplica,
  type TestWriter,
  untilSameRows,
} from '../../support/nats/publishing.js'
import { encodeStored } from '../../support/nats/replicated.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { until } from '../../support/until.js'

const random = seededRandom(1806)

async function openWriter(t: TestContext, count: number): Promise<{ writer: TestWriter; blocks: EncodedBlock[] }> {
  const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count, random })
  const writer = await openWriterChain(t)
  await append(writer, trunk)
  const db = openForReading(writer.datadir)
  const blocks = encodeStored(db, 1, count)
  db.close()
  return { writer, blocks }
}

/** The messages of a writer that begins at the genesis and publishes the blocks, in parts. */
function messagesOfChain(writer: TestWriter, blocks: readonly EncodedBlock[]): OutgoingMessage[] {
  const genesis = { number: 0, hash: writer.described.genesisHash }
  const about = { epoch: 3, maxBytes: 700 }
  return [
    ...messagesOf({ kind: 'epoch', epoch: 3, head: genesis }, { ...about, top: genesis }),
    ...blocks.flatMap((block, i) =>
      messagesOf({ kind: 'blocks', blocks: [block], finality: undefined }, { ...about, top: blocks[i - 1] ?? genesis }),
    ),
  ]
}

async function send(link: NatsLink, { described }: TestWriter, messages: readonly OutgoingMessage[]): Promise<void> {
  const { subject } = await openStream(link, described, { create: true })
  for (const { head, data } of messages) await link.publisher.publish(subject, data, { headers: encodeHead(head) })
}

test(
  'forged, reordered, cut, oversized and wrong messages are refused by name, and nothing of them is applied',
  NEEDS_NATS,
  async (t) => {
    const link = await openLink(t, [await startNats(t)])
    const { writer, blocks } = await openWriter(t, 4)
    const good = messagesOfChain(writer, blocks)
    const firstOf = (number: number) =>
      good.findIndex(({ head }) => head.kind === 'block' && head.block.number === number)
    const [second, third] = [firstOf(2), firstOf(3)]
    const before = good.slice(0, second)
    const parts = good.slice(second, third)
    const change = (message: OutgoingMessage, head: Partial<MessageHead>) => ({
      ...message,
      head: { ...message.head, ...head },
    })
    const data = Uint8Array.from(parts[0].data)
    data[data.length - 9] ^= 1
    const foreign = (await openWriter(t, 2)).blocks[1]
    const foreignMessages = messagesOf(
      { kind: 'blocks', blocks: [foreign], finality: undefined },
      { epoch: 3, maxBytes: 700, top: blocks[0] },
    )
    const large = { ...blocks[1], payload: Uint8Array.of(1, ...bomb()) }
    const oversized = messagesOf(
      { kind: 'blocks', blocks: [large], finality: undefined },
      { epoch: 3, maxBytes: 500_000, top: blocks[0] },
    )
    const faults: [string, OutgoingMessage[], RegExp][] = [
      ['a forged body', [{ ...parts[0], data }, ...parts.slice(1)], /^replication message: |^block 2 .*: expected 0x/],
      [
        'a forged hash',
        parts.map((part) => change(part, { block: { number: 2, hash: new Uint8Array(32).fill(9) } })),
        /hash: expected 0x0909/,
      ],
      ['a part left out', parts.slice(1), /Cairn-Unit: expected 1, got 2/],
      ['cut within a block', [parts[0], ...good.slice(third)], /Cairn-Unit: expected 2\//],
      ['reordered', [...good.slice(third), ...parts], /Cairn-Number: expected 2, got 3/],
      ['a block of another chain', foreignMessages, /Cairn-Parent: expected 0x/],
      ['a bomb', oversized, /payload: expected at most 67108864 bytes inflated/],
      [
        'a stale epoch',
        parts.map((part) => change(part, { epoch: 2 })),
        /a message of epoch 2 came after one of epoch 3/,
      ],
    ]
    for (const [name, messages, expected] of faults) {
      const existing = await openStream(link, writer.described, { create: true })
      await link.manager.streams.delete(existing.stream)
      await send(link, writer, [...before, ...messages])
      const replica = await startReplica(t, { link })
      await until(() => replica.status().state === 'alarm')
      assert.match(replica.status().problem!, expected, name)
      await replica.end()
      const db = openForReading(replica.datadir)
      assert.equal(db.prepare('SELECT max(number) FROM blocks').pluck().get(), 1, name)
      db.close()
    }
  },
)

test('a stream of another chain is refused by name', NEEDS_NATS, async (t) => {
  const link = await openLink(t, [await startNats(t)])
  const { writer } = await openWriter(t, 1)
  await openStream(link, { ...writer.described, genesisHash: new Uint8Array(32).fill(1) }, { create: true })
  const replica = await startReplica(t, { link })
  await until(() => replica.status().state === 'alarm')
  assert.match(
    replica.status().problem!,
    /stream CAIRN_20265: expected the subject cairn\.20265\.\w{8}\.block, got cairn/,
  )
  await assert.rejects(startPublisher(t, writer, { link, epoch: 1 }).running, /another chain's/)
})

test('the credentials of a replica read the stream and cannot publish', NEEDS_NATS, async (t) => {
  const [writerKey, replicaKey] = [nkeys.createUser(), nkeys.createUser()]
  const api = '$JS.API.'
  const allowed = [
    `${api}STREAM.INFO.CAIRN_20265`,
    `${api}STREAM.MSG.GET.CAIRN_20265`,
    `${api}CONSUMER.CREATE.CAIRN_20265`,
    `${api}CONSUMER.CREATE.CAIRN_20265.>`,
    `${api}CONSUMER.DELETE.CAIRN_20265.>`,
    `${api}CONSUMER.MSG.NEXT.CAIRN_20265.>`,
  ]
  const users = [
    `{ nkey: ${writerKey.getPublicKey()} }`,
    `{ nkey: ${replicaKey.getPublicKey()}, permissions { publish: ${JSON.stringify(allowed)}, subscribe: ["_INBOX.>"] } }`,
  ]
  const server = await startNats(t, { config: `authorization { users: [${users.join(', ')}] }` })
  const folder = temporaryDirectory(t)
  const [writerFile, replicaFile] = [writerKey, replicaKey].map((key, i) => {
    const path = join(folder, String(i))
    writeFileSync(path, `${new TextDecoder().decode(key.getSeed())}\n`)
    return path
  })
  const { writer } = await openWriter(t, 3)
  startPublisher(t, writer, { link: await openLink(t, [server], { credentialsFile: writerFile }), epoch: 1 })
  const own = await openLink(t, [server], { credentialsFile: replicaFile })
  const replica = await startReplica(t, { link: own })
  await untilSameRows(replica, writer, 'with credentials of a replica')
  const stream = await openStream(own, writer.described)
  const { last } = await stream.range()
  await assert.rejects(own.publisher.publish(stream.subject, 'forged'), /[Pp]ermissions? [Vv]iolation/)
  await assert.rejects(own.manager.streams.delete(stream.stream), /[Pp]ermissions? [Vv]iolation/)
  await assert.rejects(own.manager.streams.purge(stream.stream), /[Pp]ermissions? [Vv]iolation/)
  assert.equal((await stream.range()).last, last)
})

/** Deflated zeros that inflate to 65 MiB. */
function bomb(): Uint8Array {
  return deflateRawSync(new Uint8Array(65 * 2 ** 20))
}
