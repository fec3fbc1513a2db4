import assert from 'node:assert/strict'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { NEEDS_NATS, openLink } from '../../support/nats/nats.js'
import {
  append,
  messagesIn,
  openPublishing,
  startPublisher,
  startReplica,
  untilSameRows,
} from '../../support/nats/publishing.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { until } from '../../support/until.js'

/* Streams that lose acknowledged messages: a server comes back with older files. */

const random = seededRandom(1837)

for (const when of ['while the writer publishes', 'while the writer is away'] as const) {
  test(`acknowledged messages that the stream lost are published again: ${when}`, NEEDS_NATS, async (t) => {
    const { server, link, trunk, writer } = await openPublishing(t, random)
    await append(writer, trunk.slice(0, 4))
    let publisher = startPublisher(t, writer, { link, epoch: 1 })
    const replica = await startReplica(t, { link: await openLink(t, [server]) })
    await untilSameRows(replica, writer, 'before')
    const behind = await startReplica(t, { link: await openLink(t, [server]) })
    await untilSameRows(behind, writer, 'before')
    await behind.end()
    const older = join(temporaryDirectory(t), 'store')
    await server.kill()
    cpSync(server.store, older, { recursive: true })
    await server.restart()
    await append(writer, trunk.slice(4, 8))
    await untilSameRows(replica, writer, 'with what is lost later')
    if (when === 'while the writer is away') await publisher.end()
    await server.kill()
    rmSync(server.store, { recursive: true })
    cpSync(older, server.store, { recursive: true })
    await server.restart()
    if (when === 'while the writer is away') publisher = startPublisher(t, writer, { link, epoch: 2 })
    await append(writer, trunk.slice(8, 9))
    await until(() => publisher.status().block === 9)
    assert.deepEqual(await messagesIn(link, writer), ['epoch', 1, 2, 3, 4, 'epoch', 5, 6, 7, 8, 9])
    await untilSameRows(replica, writer, 'a replica that had the lost messages')
    const again = await startReplica(t, { link }, { datadir: behind.datadir })
    await untilSameRows(again, writer, 'a replica that did not have them')
    await append(writer, trunk.slice(9))
    for (const each of [replica, again]) await untilSameRows(each, writer, 'live')
    assert.equal(replica.status().state, 'following')
  })
}
