import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { formatData } from '../../src/lib/hex.js'
import { growBranch } from '../support/chains/branches.js'
import {
  branchesDirectory,
  type Member,
  startMember,
  untilFollowing,
  untilHead,
  untilRole,
} from '../support/members.js'
import { NEEDS_NATS, startNats } from '../support/nats/nats.js'
import { makeAuthority, makeOperator, NEEDS_OPENSSL, writeSeed } from '../support/nats/natsSecurity.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { until } from '../support/until.js'
import { startForkingUpstream } from '../support/upstream/forkingUpstream.js'

/* `cairn serve` with TLS and credentials, against a real nats-server. */

const options = { ...NEEDS_NATS, skip: NEEDS_NATS.skip || NEEDS_OPENSSL }
const random = seededRandom(1826)

/** A server with TLS that asks for credentials of one kind. `right` makes a file that it accepts, `wrong` one that it
 *  does not. */
async function startSecured(t: TestContext, kind: 'NKEY' | '.creds') {
  const folder = temporaryDirectory(t)
  const authority = makeAuthority(folder, 'right')
  const operator = makeOperator(folder)
  const seeds = ['writer', 'replica'].map((name) => writeSeed(folder, name))
  const users = seeds.map(({ publicKey }) => `{ nkey: ${publicKey} }`).join(', ')
  const access = kind === 'NKEY' ? `authorization { users: [${users}] }` : operator.config
  const server = await startNats(t, { config: `${authority.config}\n${access}`, isTls: true })
  const [writer, replica] = kind === 'NKEY' ? seeds : ['writer', 'replica'].map((name) => operator.writeCreds(name))
  const wrong = kind === 'NKEY' ? writeSeed(folder, 'wrong') : makeOperator(folder).writeCreds('wrong')
  const args = (credentials: { file: string }, caFile = authority.caFile) => [
    ...['--nats-ca', caFile, '--nats-credentials', credentials.file],
  ]
  const url = server.url.replace('nats://127.0.0.1', 'tls://localhost')
  return { folder, url, writer, replica, wrong, args }
}

/** Stops the member and returns all its output: its HTTP pages, stdout and stderr. */
async function stopAndReadOutput({ url, running, stop }: Member): Promise<string> {
  const pages = await Promise.all(
    ['/health', '/ready', '/metrics', '/'].map(async (path) => (await fetch(`${url}${path}`)).text()),
  )
  await stop()
  const { stdout, stderr } = await running.ended
  return [...pages, stdout, stderr].join('\n')
}

for (const kind of ['NKEY', '.creds'] as const) {
  test(`writer and replica over TLS with ${kind}; wrong authorities and credentials are named`, options, async (t) => {
    const { folder, url, args, ...files } = await startSecured(t, kind)
    const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 6, random })
    const upstream = await startForkingUpstream(t, trunk)
    const publish = ['--publish', url, '--upstream', upstream.url]
    const other = makeAuthority(folder, 'other')
    const refused: [string, string[], RegExp][] = [
      ['a writer with wrong credentials', [...publish, ...args(files.wrong)], /refused the credentials of --nats-cred/],
      ['a replica with wrong credentials', ['--replica', url, ...args(files.wrong)], /refused the cred.*--nats-cred/],
      [
        'a replica with another authority',
        ['--replica', url, ...args(files.replica, other.caFile)],
        /not of an authority in --nats-ca \S+other-ca\.pem/,
      ],
      [
        'a writer without the authority',
        [...publish, '--nats-credentials', files.writer.file],
        /of an authority that is not known \(\w+\): --nats-ca FILE/,
      ],
    ]
    const writer = await startMember(t, await branchesDirectory(t), [...publish, ...args(files.writer)])
    const replica = await startMember(t, await branchesDirectory(t), ['--replica', url, ...args(files.replica)])
    await untilRole(writer, 'writer')
    await untilHead([writer, replica], formatData(trunk.at(-1)!.hash))
    await untilFollowing(replica)
    const outputs = [await stopAndReadOutput(replica)]
    const few = kind === '.creds' ? refused.slice(0, 1) : refused.slice(2, 3)
    for (const [name, wrong, expected] of THOROUGH ? refused : few) {
      const member = await startMember(t, await branchesDirectory(t), [...wrong, '--log-level', 'warn'])
      await until(async () => (await member.replication()).problem !== null)
      assert.match((await member.replication()).problem!, expected, name)
      const all = await stopAndReadOutput(member)
      assert.match(all, /"msg":"no connection to/, name)
      outputs.push(all)
    }
    outputs.push(await stopAndReadOutput(writer))
    for (const secret of Object.values(files).flatMap(({ secrets }) => secrets)) {
      for (const text of outputs) assert.ok(!text.includes(secret))
    }
  })
}
