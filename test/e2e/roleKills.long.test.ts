import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Block } from '../../src/chain/eth/types.js'
import { formatData } from '../../src/lib/hex.js'
import { createLease } from '../../src/replication/nats/lease.js'
import { openForReading } from '../../src/store/open.js'
import { createChainReader } from '../../src/store/rows/chainReader.js'
import { growBranch } from '../support/chains/branches.js'
import { compareRows } from '../support/compare/compareChains.js'
import {
  branchesDirectory,
  type Member,
  startMember,
  untilFollowing,
  untilHead,
  untilRole,
} from '../support/members.js'
import { NEEDS_NATS, openLink, startNats } from '../support/nats/nats.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { until } from '../support/until.js'
import { type ForkingUpstream, startForkingUpstream } from '../support/upstream/forkingUpstream.js'

/* Two servers that can be the writer, each with a node of its own, and kill -9 in every state of a role. */

const ROUNDS = THOROUGH ? 10 : 1
const random = seededRandom(1822)

/** A server and its node, started again with the same directory after each kill. */
interface Seat {
  readonly upstream: ForkingUpstream
  member: Member
}

async function startPair(t: TestContext, trunk: readonly Block[]) {
  const nats = await startNats(t)
  const args = ({ url }: ForkingUpstream) => ['--publish', nats.url, '--upstream', url]
  const seats: Seat[] = []
  for (let i = 0; i < 2; i++) {
    const upstream = await startForkingUpstream(t, trunk)
    const member = await startMember(t, await branchesDirectory(t), args(upstream))
    if (i === 0) await untilRole(member, 'writer')
    seats.push({ upstream, member })
  }
  const replica = await startMember(t, await branchesDirectory(t), ['--replica', nats.url])
  const link = await openLink(t, [nats])
  const db = openForReading(replica.datadir)
  const reader = createChainReader(db)
  const lease = createLease(
    link,
    { chainId: reader.chainId(), genesisHash: reader.blockHash(0)! },
    { holder: 'a test' },
  )
  db.close()
  return {
    seats,
    replica,
    /** The seat with the lease, and the other one, once one of them is the writer. */
    roles: async (): Promise<{ writer: Seat; standby: Seat }> => {
      for (;;) {
        for (const [i, writer] of seats.entries()) {
          const { role } = await writer.member.replication()
          if (role === 'writer') return { writer, standby: seats[1 - i] }
        }
        await sleep(20)
      }
    },
    untilHolds: ({ member }: Seat) =>
      until(async () => (await lease.holder())?.endsWith(`:${member.running.child.pid}`) === true),
    /** Kills the server if it runs. */
    startAgain: async (seat: Seat) => {
      await seat.member.kill()
      seat.member = await startMember(t, seat.member.datadir, args(seat.upstream))
    },
  }
}

test('kill -9 of a server that catches up, takes over, publishes or is fenced leaves one chain', {
  ...NEEDS_NATS,
  skip: NEEDS_NATS.skip || (!THOROUGH && 'takes a minute: npm run test:thorough'),
  timeout: 120_000 * ROUNDS,
}, async (t) => {
  let trunk: Block[] = await growBranch(temporaryDirectory(t), { trunk: [], count: 10, random })
  const { seats, replica, roles, untilHolds, startAgain } = await startPair(t, trunk)
  const grow = async (base: readonly Block[], count: number) => {
    const grown = await growBranch(temporaryDirectory(t), { trunk: base, count, random })
    return [...base, ...grown]
  }
  const become = async (blocks: Block[]) => {
    trunk = blocks
    for (const { upstream } of seats) await upstream.become(trunk)
  }
  const hash = () => formatData(trunk.at(-1)!.hash)
  const settle = async () => {
    await untilHead([...seats.map(({ member }) => member), replica], hash())
    return roles()
  }

  /** The standby was away, and is killed while it applies what it missed. */
  const catchingUp = async () => {
    const { writer, standby } = await settle()
    await standby.member.kill()
    await become(await grow(trunk, 25))
    await untilHead([writer.member, replica], hash())
    await startAgain(standby)
    await until(
      async () => ((await standby.member.replication()).lagBlocks ?? 0) > 0 || (await standby.member.head()) === hash(),
    )
    await sleep(random.below(300))
    await startAgain(standby)
  }
  /** The standby is killed when it has the lease and is not the writer yet, or just is. */
  const takingOver = async () => {
    const { writer, standby } = await settle()
    await writer.member.stop()
    await untilHolds(standby)
    await sleep(random.below(300))
    await standby.member.kill()
    await become(await grow(trunk, 2))
    await Promise.all([startAgain(writer), startAgain(standby)])
  }
  /** The writer is killed with blocks that are committed, published and neither. */
  const publishing = async () => {
    const { writer } = await settle()
    await become(await grow(trunk, 6))
    await sleep(random.below(300))
    await startAgain(writer)
  }
  /** A frozen writer wakes up with blocks that the next one has not published, and is killed while it removes them. */
  const rewinding = async () => {
    const { writer, standby } = await settle()
    const [stale, fresh] = [await grow(trunk, 3), await grow(trunk, 4)]
    writer.member.signal('SIGSTOP')
    await writer.upstream.become(stale)
    await untilRole(standby.member, 'writer')
    await standby.upstream.become(fresh)
    await untilHead([standby.member, replica], formatData(fresh.at(-1)!.hash))
    writer.member.signal('SIGCONT')
    await sleep(random.below(1500))
    await writer.member.kill()
    await become(fresh)
    await startAgain(writer)
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const state of [catchingUp, takingOver, publishing, rewinding]) await state()
  }
  await settle()
  for (const each of [...seats.map(({ member }) => member), replica]) {
    await untilFollowing(each)
    await each.stop()
    compareRows(each.datadir, seats[0].upstream.datadir, each.datadir)
  }
})
