import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { serialize } from 'node:v8'
import type { Block } from '../../../src/chain/eth/types.js'
import { createPastTries } from '../../../src/evm/state/pastTries.js'
import { noDeadline } from '../../../src/lib/deadline.js'
import { formatData } from '../../../src/lib/hex.js'
import type { PositionedUnit } from '../../../src/replication/codec/types.js'
import { TrieHasherHandle } from '../../../src/replication/threads/trieHasher.js'
import type { Database } from '../../../src/store/database.js'
import { openForReading } from '../../../src/store/open.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createChainReader } from '../../../src/store/rows/chainReader.js'
import { createStateReader } from '../../../src/store/state/stateReader.js'
import { BRANCHES_GENESIS, growBranch, importInOneGo, openBranches } from '../chains/branches.js'
import { STORAGE_ROWS } from '../chains/historyRows.js'
import { checkDatabase } from '../compare/checkDatabase.js'
import { compareRows } from '../compare/compareChains.js'
import { type SeededRandom, seededRandom } from '../random.js'
import { temporaryDirectory } from '../temporary.js'
import { collectWarnings, encodeStored, openApplier, positioned, settleTrie, unitOf } from './replicated.js'

/** A random history of a replica. */
export interface ReplicaHistory {
  seed: number
  steps: number
  /** Most blocks that a step appends or removes. */
  most: number
  /** One step in `killEvery` is done by a process that is killed. */
  killEvery: number
}

/** Plays a random history: units of one or several blocks, reorgs and rewinds, restarts, processes that are killed,
 *  with a trie that is brought up to date wholly, partly or not at all. After each step every block that the replica
 *  holds must have the proofs that a chain built in one go has; in the end it has its rows. */
export async function checkReplicaHistory(
  t: TestContext,
  { seed, steps, most, killEvery }: ReplicaHistory,
): Promise<void> {
  const random = seededRandom(seed)
  const datadir = temporaryDirectory(t)
  const prepared = await openBranches(datadir)
  prepared.db.close()
  let trunk: Block[] = []
  let sequence = 0
  let writer = temporaryDirectory(t)
  for (let step = 0; step < steps; step++) {
    const ancestor = trunk.length - random.below(Math.min(most, trunk.length) + 1)
    const kept = trunk.slice(0, ancestor)
    const branch = await growBranch(temporaryDirectory(t), { trunk: kept, count: random.below(most), random })
    const isKilled = step % killEvery === killEvery - 1
    const place = `seed ${seed}, step ${step}: from ${trunk.length} over ${ancestor} to ${ancestor + branch.length}`
    const isReorg = ancestor < trunk.length
    writer = temporaryDirectory(t)
    trunk = [...kept, ...branch]
    await importInOneGo(writer, trunk)
    const units = unitsOf(writer, { ancestor, isReorg, random, first: sequence + 1 })
    sequence += units.length
    if (isKilled) await killWhileApplying(t, datadir, units, random)
    await applyHere(t, datadir, units, random)
    checkProofs(datadir, writer, place)
    if (random.below(4) > 0) continue
    // A writer, such as a standby that takes over, finds the trie where it was left.
    const { db } = await openBranches(datadir)
    db.close()
    assert.deepEqual(checkDatabase(datadir), checkDatabase(writer), place)
  }
  const { db } = await openBranches(datadir)
  db.close()
  assert.deepEqual(checkDatabase(datadir), checkDatabase(writer))
  compareRows(datadir, writer, `seed ${seed}`)
}

/** Units that the writer publishes to its replicas for the blocks above `ancestor`. */
function unitsOf(
  writer: string,
  { ancestor, isReorg, random, first }: { ancestor: number; isReorg: boolean; random: SeededRandom; first: number },
): PositionedUnit[] {
  const db = openForReading(writer)
  const chain = createChainReader(db)
  const blocks = encodeStored(db, ancestor + 1, chain.head()!)
  const ancestorRef = { number: ancestor, hash: chain.blockHash(ancestor)! }
  db.close()
  const together = isReorg ? random.below(blocks.length + 1) : 0
  const reorg = isReorg ? [unitOf(blocks.slice(0, together), ancestorRef)] : []
  return positioned([...reorg, ...blocks.slice(together).map((block) => unitOf([block]))], first)
}

/** Applies the units that were not applied yet, with a trie that is left at a random block. */
async function applyHere(t: TestContext, datadir: string, units: readonly PositionedUnit[], random: SeededRandom) {
  const db = openForWriting(datadir)
  t.after(() => void (db.open && db.close()))
  const trieInterval = [1, 2, 5, 64][random.below(4)]
  const hasher = new TrieHasherHandle({ datadir, cacheBytes: 2 ** 12 })
  const { log, warnings } = collectWarnings()
  const how = { trieInterval, hasher, log }
  const { applier, apply, chain } = await openApplier(db, { genesis: BRANCHES_GENESIS }, how)
  let isBehind = random.below(2) === 0
  for (const each of units) {
    if (each.position.sequence <= (applier.position?.sequence ?? 0)) continue
    if (random.below(4) === 0) isBehind = !isBehind
    await apply(each, { isBehind })
    if (random.below(3) === 0) applier.commit()
    if (random.below(3) === 0) await applier.workOnTrie()
  }
  applier.commit()
  if (random.below(2) === 0) await settleTrie(applier)
  if (random.below(2) === 0) while (chain.workOnTries());
  assert.deepEqual(warnings, [])
  await hasher.close()
  db.close()
}

/** Starts a process that applies the units and kills it at a random moment. */
async function killWhileApplying(
  t: TestContext,
  datadir: string,
  units: readonly PositionedUnit[],
  random: SeededRandom,
): Promise<void> {
  if (units.length === 0) return
  const path = join(temporaryDirectory(t), 'units')
  writeFileSync(path, serialize(units))
  const program = fileURLToPath(new URL('./replicaProcess.js', import.meta.url))
  const child = spawn(process.execPath, [program, datadir, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  await Promise.race([once(child.stdout, 'data'), ended])
  await delay(random.below(40))
  child.kill('SIGKILL')
  await ended
}

/** Fails unless both databases prove all accounts and some slots after each block alike. */
function checkProofs(datadir: string, writer: string, place: string): void {
  const [found, wanted] = [datadir, writer].map(openForReading)
  try {
    assert.equal(createChainReader(found).head(), createChainReader(wanted).head(), place)
    const accounts = listAccounts(wanted)
    assert.deepEqual(proofsOf(found, accounts), proofsOf(wanted, accounts), place)
  } finally {
    found.close()
    wanted.close()
  }
}

interface ProvedAccount {
  address: Uint8Array
  slots: Uint8Array[]
}

function listAccounts(db: Database): ProvedAccount[] {
  const slotsOf = db
    .prepare<[Uint8Array], Uint8Array>(
      `SELECT DISTINCT slot FROM ${STORAGE_ROWS} JOIN addresses a ON a.id = address_id WHERE a.address = ? ORDER BY 1 LIMIT 6`,
    )
    .pluck()
  const pad = (slot: Uint8Array) => Uint8Array.from([...new Uint8Array(32 - slot.length), ...slot])
  return db
    .prepare<[], Uint8Array>('SELECT address FROM addresses ORDER BY address LIMIT 12')
    .pluck()
    .all()
    .map((address) => ({ address, slots: slotsOf.all(address).map(pad) }))
}

function proofsOf(db: Database, accounts: readonly ProvedAccount[]): string[] {
  const [chain, reader] = [createChainReader(db), createStateReader(db)]
  const tries = createPastTries(db, { chain, reader })
  return Array.from({ length: chain.head()! + 1 }, (_, number) => {
    const trie = tries.after(chain.blockByNumber(number)!, noDeadline)
    const proofs = accounts.map(({ address, slots }) => {
      const { nodes, storageRoot, slots: proved } = trie.prove(address, slots)
      return [...nodes, storageRoot, ...proved.flatMap((each) => [...each.nodes, each.value])].map(formatData)
    })
    return `${number} ${JSON.stringify(proofs)}`
  })
}
