import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { AckPolicy } from '@nats-io/jetstream'
import { connect, errors, nkeys } from '@nats-io/transport-node'
import { silentLogger } from '../../src/lib/logger.js'
import { connectNats, type NatsLink } from '../../src/replication/nats/connection.js'
import { createLease, readLease } from '../../src/replication/nats/lease.js'
import { openStream } from '../../src/replication/nats/stream.js'
import { firstAnswer, isDenied } from '../../src/replication/nats/transientError.js'
import { watchWriter } from '../../src/replication/nats/watchWriter.js'
import { packagePath } from '../../src/store/open.js'
import { spawnProgram } from '../support/cairn.js'
import { freePort } from '../support/freePort.js'
import { NEEDS_NATS, settingsFor } from '../support/nats/nats.js'
import { temporaryDirectory } from '../support/temporary.js'

/* `deploy/scaling/nats.conf`, with addresses and paths of this machine. */

const CHAIN = { chainId: 1n, genesisHash: new Uint8Array(32).fill(0xab) }
const SUBJECT = 'cairn.1.abababab.block'

/** Three nodes from the shipped file, and NKEYs of writer and replica. */
async function startNodes(t: TestContext, { tls }: { tls: boolean }) {
  const keys = { writer: nkeys.createUser(), replica: nkeys.createUser() }
  const folder = temporaryDirectory(t)
  const [clients, routes, monitors] = await Promise.all(
    [1, 2, 3].map(() => Promise.all([freePort(), freePort(), freePort()])),
  )
  const files = { cert: join(folder, 'server.pem'), key: join(folder, 'server.key') }
  if (tls) makeCertificate(files)
  const shipped = readFileSync(packagePath('deploy/scaling/nats.conf'), 'utf8')
  for (let i = 0; i < 3; i++) {
    const path = join(folder, `n${i}.conf`)
    const config = shipped
      .replace('0.0.0.0:4222', `127.0.0.1:${clients[i]}`)
      .replace('127.0.0.1:8222', `127.0.0.1:${monitors[i]}`)
      .replace('0.0.0.0:6222', `127.0.0.1:${routes[i]}`)
      .replace(/10\.0\.0\.1(\d):6222/g, (_, n: string) => `127.0.0.1:${routes[Number(n) - 1]}`)
      .replace('/var/lib/nats/jetstream', join(folder, `store${i}`))
      .replace('50GB', '1GB')
      .replace('/etc/nats/server.pem', files.cert)
      .replace('/etc/nats/server.key', files.key)
      // The commented block of TLS.
      .replace(/^# (tls \{| {2}(?:cert_file|key_file|timeout).*|\})$/gm, tls ? '$1' : '# $1')
    assert.doesNotMatch(config, /^[^#]*10\.0\.0\./m)
    writeFileSync(path, config)
    const { child, ended } = spawnProgram('/usr/sbin/nats-server', ['-c', path], {
      env: {
        CAIRN_NATS_NAME: `n${i + 1}`,
        CAIRN_WRITER_NKEY: keys.writer.getPublicKey(),
        CAIRN_REPLICA_NKEY: keys.replica.getPublicKey(),
      },
    })
    t.after(async () => {
      child.kill('SIGKILL')
      await ended
    })
  }
  const open = async (role: 'writer' | 'replica'): Promise<NatsLink> => {
    const credentialsFile = join(folder, `${role}.seed`)
    writeFileSync(credentialsFile, Buffer.from(keys[role].getSeed()))
    const scheme = tls ? 'tls' : 'nats'
    const servers = clients.map((port) => ({ url: `${scheme}://localhost:${port}` }))
    const more = { credentialsFile, streamReplicas: 3, ...(tls ? { caFile: files.cert } : {}) }
    const link = await connectNats(settingsFor(servers, more), {
      log: silentLogger,
      signal: new AbortController().signal,
    })
    t.after(() => link.close())
    return link
  }
  const openWithout = () =>
    connect({
      servers: `localhost:${clients[0]}`,
      reconnect: false,
      ...(tls ? { tls: { ca: readFileSync(files.cert, 'utf8') } } : {}),
    })
  return { open, openWithout }
}

/** A certificate of `localhost` that signs itself. */
function makeCertificate({ cert, key }: { cert: string; key: string }): void {
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1']
  const names = ['-subj', '/CN=cairn test', '-addext', 'subjectAltName=DNS:localhost']
  const { status, stderr } = spawnSync('openssl', [...made, ...names, '-keyout', key, '-out', cert], {
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
}

/** The stream, once the three nodes have a leader. */
async function makeStream(link: NatsLink) {
  for (;;) {
    try {
      return await openStream(link, CHAIN, { create: true })
    } catch {
      await sleep(50)
    }
  }
}

/** The lease of another chain, which the configuration does not name. */
async function lackingRights(link: NatsLink): Promise<void> {
  let denials = 0
  await watchWriter(
    link,
    { ...CHAIN, chainId: 2n },
    {
      log: silentLogger,
      signal: new AbortController().signal,
      onWriter: () => assert.fail('no lease may be read'),
      onDenied: () => denials++,
    },
  )
  assert.equal(denials, 1)
}

for (const tls of [false, true]) {
  const name = `three nodes${tls ? ' with TLS' : ''}: the writer publishes and takes the lease, a replica reads and does nothing else`
  const skip = NEEDS_NATS.skip || (tls && spawnSync('openssl', ['version']).status !== 0 && 'openssl is not installed')
  test(name, { skip }, async (t) => {
    const { open, openWithout } = await startNodes(t, { tls })
    const writer = await open('writer')
    const { stream } = await makeStream(writer)
    const body = Buffer.alloc(100_000, 1)
    assert.equal((await writer.publisher.publish(SUBJECT, body, { expect: { lastSequence: 0 } })).seq, 1)
    const own = createLease(writer, CHAIN, { holder: 'test', head: () => 7 })
    const lease = await own.acquire(new AbortController().signal)
    assert.ok(lease)
    assert.equal(await own.holder(), 'test')

    const replica = await open('replica')
    assert.deepEqual(await (await openStream(replica, CHAIN)).range(), { first: 1, last: 1 })
    // A node that has not learned the leader yet answers nothing.
    const consumer = await firstAnswer(() => replica.publisher.consumers.get(stream))
    assert.deepEqual(Buffer.from((await consumer.next())!.data), body)
    const seen = await readLease(replica, CHAIN)
    assert.deepEqual([seen?.holder, seen?.head], ['test', 7])
    await lackingRights(replica)
    const toItself = { name: 'junk', deliver_subject: SUBJECT, ack_policy: AckPolicy.None }
    await assert.rejects(replica.manager.consumers.add(stream, toItself), /deliver subject forms a cycle/)
    const refusesToPublish = async (link: NatsLink, subject: string) =>
      assert.rejects(link.publisher.publish(subject, body), isDenied, subject)
    for (const subject of [SUBJECT, '$KV.CAIRN_1_LEASE.writer']) await refusesToPublish(replica, subject)
    for (const link of [replica, writer]) {
      for (const subject of ['cairn.1.junk', 'cairn.2.abababab.block', '$KV.CAIRN_1_LEASE.junk', 'junk']) {
        await refusesToPublish(link, subject)
      }
      for (const name of ['JUNK', 'CAIRN_2']) {
        await assert.rejects(link.manager.streams.add({ name, subjects: ['junk'] }), isDenied)
      }
      await assert.rejects(link.manager.streams.update(stream, { max_msgs: 1 }), isDenied)
      await assert.rejects(link.manager.streams.purge(stream), isDenied)
      await assert.rejects(link.manager.streams.delete(stream), isDenied)
      await assert.rejects(link.manager.streams.deleteMessage(stream, 1), isDenied)
    }
    assert.deepEqual(await (await openStream(writer, CHAIN)).range(), { first: 1, last: 1 })
    await assert.rejects(openWithout(), errors.AuthorizationError)
    await lease.release()
  })
}

test('nats-server accepts the file as it is', NEEDS_NATS, () => {
  const [writer, replica] = [nkeys.createUser(), nkeys.createUser()].map((key) => key.getPublicKey())
  const { status, stderr } = spawnSync('/usr/sbin/nats-server', ['-t', '-c', packagePath('deploy/scaling/nats.conf')], {
    env: { ...process.env, CAIRN_NATS_NAME: 'n1', CAIRN_WRITER_NKEY: writer, CAIRN_REPLICA_NKEY: replica },
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
})
