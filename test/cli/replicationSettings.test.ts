import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseArgs } from '../../src/cli/parseArgs.js'
import { readReplicationPlan } from '../../src/cli/replicationSettings.js'
import { UsageError } from '../../src/lib/errors.js'

const read = (...args: string[]) => readReplicationPlan(parseArgs('serve', args, {}).config)

const NATS = 'nats://127.0.0.1:4222'
const HTTP = 'http://127.0.0.1:8545/KEY'

test('the options name what a server does in replication', () => {
  assert.equal(read(), undefined)
  assert.deepEqual(read('--replica', HTTP), { kind: 'http', url: HTTP })
  const nats = {
    ...{ servers: [NATS], credentialsFile: undefined, caFile: undefined },
    ...{ streamReplicas: 1, maxAgeMs: 168 * 3_600_000, maxBytes: undefined },
  }
  assert.deepEqual(read('--replica', NATS), { kind: 'nats', nats, repairUrl: undefined })
  const publishBlocks = 10_000
  assert.deepEqual(read('--replica', NATS, '--standby', '--upstream', HTTP, '--replica-http', HTTP), {
    ...{ kind: 'standby', nats, repairUrl: HTTP, publishBlocks },
  })
  assert.deepEqual(read('--publish', NATS), { kind: 'writer', nats, repairUrl: undefined, publishBlocks })
  const servers = ['nats://a:1', 'tls://b:2', 'nats://c']
  const more = ['--nats-credentials', 'c', '--nats-ca', 'p', '--stream-replicas', '3', '--stream-max-age', '2']
  assert.deepEqual(
    read(
      '--publish',
      'nats://a:1,tls://b:2',
      '--publish',
      'nats://c',
      ...more,
      '--stream-max-size',
      '5',
      '--publish-blocks',
      '7',
    ),
    {
      kind: 'writer',
      nats: {
        ...{
          servers,
          credentialsFile: 'c',
          caFile: 'p',
          streamReplicas: 3,
          maxAgeMs: 7_200_000,
          maxBytes: 5 * 2 ** 20,
        },
      },
      ...{ repairUrl: undefined, publishBlocks: 7 },
    },
  )
})

test('what excludes or misses another option is refused by name, with what would work', () => {
  const refuses = (words: RegExp, ...args: string[]) =>
    assert.throws(
      () => read(...args),
      (error: Error) => error instanceof UsageError && words.test(error.message) && !error.message.includes('secret'),
      `${args}`,
    )
  refuses(/^--publish: expected nats:\/\/HOST:PORT or tls:\/\/HOST:PORT, got something else$/, '--publish', HTTP)
  refuses(/^--publish needs a value$/, '--publish', ' , ')
  refuses(/^--replica: expected nats:\/\/HOST:PORT/, '--replica', 'nats://user:secret@host/path')
  refuses(/^--replica: expected a URL such as/, '--replica', 'ws://user:secret@host')
  refuses(/^--replica: takes one http URL, got 2$/, '--replica', HTTP, '--replica', HTTP)
  refuses(
    /^--replica: takes NATS servers or one http URL, not both; --replica-http names/,
    '--replica',
    `${NATS},${HTTP}`,
  )
  refuses(/^--replica-http: expected a URL such as/, '--replica', NATS, '--replica-http', NATS)
  refuses(/^--replica-http needs --replica nats:/, '--replica-http', HTTP)
  refuses(/^--standby needs --replica nats:\/\/HOST:PORT$/, '--standby')
  refuses(/^--standby needs --replica nats:\/\/HOST:PORT$/, '--standby', '--replica', HTTP)
  refuses(/^--nats-credentials needs --replica nats:.* or --publish nats:/, '--nats-credentials', 'file')
  refuses(/^--nats-ca needs/, '--nats-ca', 'file')
  refuses(/^--publish excludes --replica: .* --replica nats:\/\/… --standby$/, '--publish', NATS, '--replica', NATS)
  refuses(/^--publish excludes --standby: /, '--publish', NATS, '--standby')
  refuses(/^--publish excludes --l2-upstream and --l2-feeder: /, '--publish', NATS, '--l2-upstream', HTTP)
  refuses(/^--standby excludes --l2-upstream/, '--replica', NATS, '--standby', '--l2-feeder', HTTP)
  refuses(/^--replica excludes --upstream, .*; with --standby/, '--replica', NATS, '--upstream', HTTP)
  refuses(/^--replica excludes --upstream, --l2-upstream and --l2-feeder$/, '--replica', HTTP, '--upstream', HTTP)
})
