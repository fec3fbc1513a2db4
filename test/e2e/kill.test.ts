import assert from 'node:assert/strict'
import { existsSync, watch } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { DATABASE_FILE, packagePath } from '../../src/store/open.js'
import { writeBlockFiles } from '../support/blockFiles.js'
import { runCairnOk, spawnCairn } from '../support/cairn.js'
import { type CheckedHead, checkDatabase, digestDatabase } from '../support/checkDatabase.js'
import { type SeededRandom, seededRandom } from '../support/random.js'
import { SKIP_SHARED, sharedPath } from '../support/shared.js'
import { temporaryDirectory } from '../support/temporary.js'

/* `kill -9` during an import: whatever moment it comes at, the database is sound and the import goes on. */

const chains = sharedPath('chains')
const KILLS = 20

/** When a process is killed: right after the n-th write to the database's files, which lands among the pages of a commit
 *  or of a checkpoint, or some time after its start, which lands anywhere. */
type Moment = { writes: number } | { delayMs: number }

interface ImportUnderTest {
  /** Arguments of the import after the data directory. */
  args: readonly string[]
  seed: number
  kills: number
  /** Bounds of the seeded moments. */
  writes: number
  delayMs: number
}

test(`an import killed at ${chains ? KILLS / 2 : KILLS} moments goes on, with logs and contract state`, async (t) => {
  const genesis = packagePath('fixtures/chain/genesis.json')
  // One file for each block, so that each is a commit.
  const args = ['--genesis', genesis, ...writeBlockFiles(t)]
  await checkKills(t, { args, seed: 9, kills: chains ? KILLS / 2 : KILLS, writes: 500, delayMs: 1300 })
})

test(`an import of mainnet killed at ${KILLS / 2} moments goes on`, { skip: SKIP_SHARED }, async (t) => {
  const args = ['--network', 'mainnet', `${chains}/mainnet-00000-5ec1ffb8.era1`]
  await checkKills(t, { args, seed: 2, kills: KILLS / 2, writes: 400, delayMs: 2000 })
})

// Heads that the kills of a test must have left behind.
const LEAST_HEADS = 4

async function checkKills(t: TestContext, { args, seed, kills, ...bounds }: ImportUnderTest): Promise<void> {
  const importInto = (datadir: string) => ['import', '--datadir', datadir, ...args]
  const straight = temporaryDirectory(t)
  await runCairnOk(importInto(straight))
  const [wanted, digest] = [checkDatabase(straight)!, digestDatabase(straight)]

  const random = seededRandom(seed)
  const heads = new Set<number>()
  let datadir = temporaryDirectory(t)
  let head: CheckedHead | undefined
  // On a slow machine kills may come at the same heads again and again: more of them, then.
  for (let killed = 0; killed < kills || (heads.size < LEAST_HEADS && killed < kills * 4); ) {
    const moment = chooseMoment(random, bounds)
    if (await killAt(importInto(datadir), datadir, moment)) killed++
    const before = head
    head = existsSync(join(datadir, DATABASE_FILE)) ? checkDatabase(datadir) : undefined
    const place = `seed ${seed}, kill ${killed}: ${JSON.stringify(moment)}`
    assert.ok((head?.number ?? -1) >= (before?.number ?? -1), `${place}: the head went back`)
    heads.add(head?.number ?? -1)
    if (head?.number !== wanted.number) continue
    // All is there: it must be all that is there without a kill, and the next kills get a new database.
    await runCairnOk(importInto(datadir))
    assert.deepEqual([checkDatabase(datadir), digestDatabase(datadir)], [wanted, digest], place)
    datadir = temporaryDirectory(t)
    head = undefined
  }
  await runCairnOk(importInto(datadir))
  assert.deepEqual([checkDatabase(datadir), digestDatabase(datadir)], [wanted, digest])
  assert.ok(heads.size >= LEAST_HEADS, `the kills met too few places: heads ${[...heads]}`)
}

function chooseMoment(random: SeededRandom, { writes, delayMs }: { writes: number; delayMs: number }): Moment {
  return random.below(3) > 0 ? { writes: 1 + random.below(writes) } : { delayMs: 200 + random.below(delayMs) }
}

/** Starts the program and kills it at the moment. @returns false when it had ended before. */
async function killAt(args: readonly string[], datadir: string, moment: Moment): Promise<boolean> {
  let seen = 0
  let kill = () => {}
  const watcher = watch(datadir, (_event, name) => {
    if (name?.startsWith(DATABASE_FILE) && 'writes' in moment && ++seen === moment.writes) kill()
  })
  const { child, ended } = spawnCairn(args)
  kill = () => void child.kill('SIGKILL')
  const timer = 'delayMs' in moment ? setTimeout(kill, moment.delayMs) : undefined
  const { code, signal, stderr } = await ended
  clearTimeout(timer)
  watcher.close()
  assert.ok(signal === 'SIGKILL' || code === 0, stderr)
  return signal === 'SIGKILL'
}
