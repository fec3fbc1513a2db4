import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { encodeBlock } from '../../../src/chain/eth/block.js'
import { equalBytes } from '../../../src/lib/bytes.js'
import { createStreamAssembler } from '../../../src/replication/nats/assembler.js'
import { openStream } from '../../../src/replication/nats/stream.js'
import { readStream } from '../../../src/replication/nats/streamReader.js'
import { openForReading } from '../../../src/store/open.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import type { BlockRef } from '../../../src/sync/head/events.js'
import { growBranch, openBranches } from '../../support/chains/branches.js'
import { NEEDS_NATS, openLink, startNats } from '../../support/nats/nats.js'
import { describeBranches, startReplica, untilSameRows } from '../../support/nats/publishing.js'
import { seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { THOROUGH } from '../../support/thorough.js'
import { until } from '../../support/until.js'

const PROGRAM = fileURLToPath(new URL('../../support/nats/publisherProcess.js', import.meta.url))
const KILLS = THOROUGH ? 200 : 4
const options = { ...NEEDS_NATS, timeout: THOROUGH ? 1_800_000 : 300_000 }

test(
  'kill -9 of the writer between commit, publish, ack and cursor loses nothing and doubles nothing',
  options,
  async (t) => {
    const random = seededRandom(2018)
    const server = await startNats(t)
    const link = await openLink(t, [server])
    const trunk = await growBranch(temporaryDirectory(t), { trunk: [], count: 6, random })
    const branches = []
    for (const kept of [6, 6, 3]) {
      const own = trunk.slice(0, kept)
      branches.push([...own, ...(await growBranch(temporaryDirectory(t), { trunk: own, count: 12, random }))])
    }
    const path = join(temporaryDirectory(t), 'branches.json')
    writeFileSync(
      path,
      JSON.stringify(branches.map((blocks) => blocks.map((b) => Buffer.from(encodeBlock(b)).toString('hex')))),
    )
    const datadir = temporaryDirectory(t)
    const { db, chain } = await openBranches(datadir)
    chain.head.finalize({ safe: 0, finalized: 0 })
    const described = describeBranches(chain)
    db.close()
    const follower = await startReplica(t, { link })
    const signals: (string | null)[] = []
    for (let kill = 1; kill <= KILLS + 1; kill++) {
      const seed = kill > KILLS ? 0 : random.below(2 ** 30) + 1
      const args = [PROGRAM, datadir, server.url, String(kill), String(seed), path]
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
      t.after(() => void child.kill('SIGKILL'))
      const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
      signals.push(signal)
    }
    assert.deepEqual(signals, [...Array.from({ length: KILLS }, () => 'SIGKILL'), null])
    const own = openForReading(datadir)
    const head = createChainReader(own).headHash()!
    own.close()
    // Each message follows the one before: the assembler refuses what is lost, twice, or in another order.
    const stream = await openStream(link, described)
    const { last } = await stream.range()
    const genesis: BlockRef = { number: 0, hash: described.genesisHash }
    const assembler = createStreamAssembler({ stream, sequence: 1, top: genesis, epoch: 0 })
    let [units, cuts, reorgs] = [0, 0, 0]
    let isWithin = false
    for await (const message of readStream(link, stream, { from: 1, signal: t.signal })) {
      if (isWithin && message.head().kind === 'epoch') cuts++
      const unit = assembler.take(message)?.unit
      isWithin = unit === undefined
      if (unit !== undefined) units++
      if (unit?.kind === 'blocks' && unit.ancestor !== undefined) reorgs++
      if (message.sequence === last) break
    }
    t.diagnostic(
      `${KILLS} kills: ${last} messages, ${units} units, ${reorgs} of them reorgs or rewinds, ${cuts} cut by a kill`,
    )
    assert.ok(equalBytes((await stream.end()).head!.hash, head))
    assert.ok(cuts > 0, 'no kill was within a unit')
    const late = await startReplica(t, { link })
    for (const replica of [follower, late]) {
      await until(() => replica.status().sequence === last)
      await untilSameRows(replica, { datadir }, 'after the kills')
    }
  },
)
