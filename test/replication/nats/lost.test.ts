import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { openStream, streamName, streamSubject } from '../../../src/replication/nats/stream.js'
import { NEEDS_NATS } from '../../support/nats/nats.js'
import {
  append,
  messagesIn,
  openPublishing,
  serveChain,
  startPublisher,
  startReplica,
  untilSameRows,
} from '../../support/nats/publishing.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { until } from '../../support/until.js'

/* Streams that lose all messages to a purge or to their age. */

const random = seededRandom(1836)

for (const cause of ['purge', 'age'] as const) {
  const title = `after the ${cause === 'purge' ? 'purge of a stream' : 'last message has expired'} the writer continues: replicas that have all follow, those behind need another source`
  test(title, NEEDS_NATS, async (t) => {
    const { link, trunk, writer } = await openPublishing(t, random)
    const { described } = writer
    // Cairn's own stream refuses to be purged.
    const name = streamName(described)
    if (cause === 'purge') {
      await assert.rejects(
        openStream(link, described, { create: true }).then(() => link.manager.streams.purge(name)),
        /purge/,
      )
      await link.manager.streams.delete(name)
      await link.manager.streams.add({ name, subjects: [streamSubject(described)] })
    }
    const empty = async () => {
      if (cause === 'purge') await link.manager.streams.purge(name)
      else await link.manager.streams.update(name, { max_age: 150_000_000, duplicate_window: 150_000_000 })
      await until(async () => (await messagesIn(link, writer)).length === 0)
      if (cause === 'age') await link.manager.streams.update(name, { max_age: 0, duplicate_window: 120_000_000_000 })
    }
    await append(writer, trunk.slice(0, 3))
    const first = startPublisher(t, writer, { link, epoch: 1 })
    const [running, stopped] = [await startReplica(t, { link }), await startReplica(t, { link })]
    for (const replica of [running, stopped]) await untilSameRows(replica, writer, 'before')
    await stopped.end()
    await append(writer, trunk.slice(3, 5))
    await untilSameRows(running, writer, 'before')
    await until(() => first.status().block === 5)
    await empty()
    await append(writer, trunk.slice(5, 6))
    await untilSameRows(running, writer, 'the writer continues')
    assert.deepEqual(await messagesIn(link, writer), [6])
    const alone = await startReplica(t, { link }, { datadir: stopped.datadir })
    await until(() => alone.status().state === 'alarm')
    assert.match(alone.status().problem!, /expected 4 next, got 6: the blocks between are not available/)
    await alone.end()
    const { source, requests } = await serveChain(t, writer)
    const repaired = await startReplica(t, { link, repair: source }, { datadir: stopped.datadir })
    await untilSameRows(repaired, writer, 'over HTTP')
    assert.equal(requests(), 1)
    // A writer that knows what it has published resumes after it.
    await first.end()
    await empty()
    const second = startPublisher(t, writer, { link, epoch: 2 })
    await append(writer, trunk.slice(6, 7))
    await until(() => second.status().block === 7)
    assert.deepEqual(await messagesIn(link, writer), ['epoch', 7])
    for (const replica of [running, repaired]) await untilSameRows(replica, writer, 'the same writer again')
    // One that does not, as a standby, publishes the newest blocks again, in which replicas find theirs.
    await second.end()
    await empty()
    const cursorFile = join(temporaryDirectory(t), 'publisher.json')
    const third = startPublisher(t, writer, { link, epoch: 3, cursorFile, publishBlocks: 3 })
    await until(() => third.status().block === 7)
    assert.deepEqual(await messagesIn(link, writer), ['epoch', 5, 6, 7])
    await append(writer, trunk.slice(7, 9))
    for (const replica of [running, repaired]) {
      await untilSameRows(replica, writer, 'another writer')
      assert.equal(replica.status().state, 'following')
    }
    await append(writer, trunk.slice(9))
    for (const replica of [running, repaired]) await untilSameRows(replica, writer, 'live')
    assert.equal(requests(), 1)
  })
}
