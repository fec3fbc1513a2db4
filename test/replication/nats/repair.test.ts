import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openStream } from '../../../src/replication/nats/stream.js'
import { growBranch } from '../../support/chains/branches.js'
import { NEEDS_NATS, openLink, startNats } from '../../support/nats/nats.js'
import {
  append,
  openWriterChain,
  serveChain,
  startPublisher,
  startReplica,
  untilSameRows,
} from '../../support/nats/publishing.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { until } from '../../support/until.js'

const random = seededRandom(1816)

test('what the stream no longer has comes over HTTP, and then the stream continues', NEEDS_NATS, async (t) => {
  const link = await openLink(t, [await startNats(t)])
  const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 24, random })
  const writer = await openWriterChain(t)
  await append(writer, trunk.slice(0, 12))
  const http = await serveChain(t, writer)
  const publisher = startPublisher(t, writer, { link, epoch: 1, publishBlocks: 4 })
  const replica = await startReplica(t, { link, repair: http.source })
  await until(() => publisher.status().block === 12)
  await untilSameRows(replica, writer, 'behind the first message of the stream')
  const name = () => openStream(link, writer.described).then((stream) => stream.name)
  const readsStream = ({ status }: Pick<typeof replica, 'status'>) =>
    until(async () => status().sequence === (await (await openStream(link, writer.described)).end()).sequence)
  for (const block of trunk.slice(12, 15)) await append(writer, [block])
  await readsStream(replica)
  assert.equal(http.requests(), 1)
  // While it is stopped, it falls behind a stream that is created again.
  await replica.end()
  await publisher.end()
  await append(writer, trunk.slice(15, 22))
  const { stream } = await openStream(link, writer.described)
  const before = await name()
  await link.manager.streams.delete(stream)
  startPublisher(t, writer, { link, epoch: 2, publishBlocks: 2 })
  await until(() =>
    name().then(
      (now) => now !== before,
      () => false,
    ),
  )
  const again = await startReplica(t, { link, repair: http.source }, { datadir: replica.datadir })
  await untilSameRows(again, writer, 'after the stream was created again')
  for (const block of trunk.slice(22)) await append(writer, [block])
  await untilSameRows(again, writer, 'live')
  await readsStream(again)
  assert.equal(http.requests(), 2)
})
