import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { AUDIT_PARTS, auditDatabase } from '../../../src/audit/database.js'
import type { Block } from '../../../src/chain/eth/types.js'
import { formatData } from '../../../src/lib/hex.js'
import { noProgress } from '../../../src/lib/progress.js'
import type { EthRpc } from '../../../src/sources/ethRpc/types.js'
import { systemClock } from '../../../src/sources/upstreams/clock.js'
import { openForReading } from '../../../src/store/open.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { MissingState } from '../../../src/store/state/missingState.js'
import { readStateFirst } from '../../../src/store/state/sparseState.js'
import { createStateReader, createStateReads } from '../../../src/store/state/stateReader.js'
import { openWritableChain, type StateMode, type WritableChain } from '../../../src/sync/chainState.js'
import { StateFigures } from '../../../src/sync/sparse/stateFigures.js'
import { StateOnDemand } from '../../../src/sync/sparse/stateOnDemand.js'
import { createUpstreamSource } from '../../../src/sync/sparse/stateSource.js'
import { upgradeState } from '../../../src/sync/sparse/upgradeState.js'
import { runCairn } from '../../support/cairn.js'
import { BRANCHES_GENESIS, growBranch, LOGGER, SENDERS } from '../../support/chains/branches.js'
import { type SeededRandom, seededRandom } from '../../support/random.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { THOROUGH } from '../../support/thorough.js'
import { followHere } from '../../support/upstream/followHere.js'
import { type ForkingUpstream, startForkingUpstream } from '../../support/upstream/forkingUpstream.js'

/* A database without state that is raised to sparse state, and whose chain then forks above and below the first block
 * with state: what it knows of any block is what a complete database has. */

const genesis = {
  ...BRANCHES_GENESIS,
  config: {
    ...BRANCHES_GENESIS.config,
    cancunTime: 0,
    blobSchedule: { cancun: { target: 3, max: 6, baseFeeUpdateFraction: 3_338_477 } },
  },
}

function grow(t: TestContext, random: SeededRandom, trunk: readonly Block[], count: number): Promise<Block[]> {
  return growBranch(temporaryDirectory(t), { trunk, random, count, genesis })
}

/** Follows the upstream until its head is reached; then fetches what `wanted` names, if anything. */
async function follow(
  t: TestContext,
  datadir: string,
  upstream: ForkingUpstream,
  { mode, head, wanted = [] }: { mode: StateMode; head: Block; wanted?: readonly Uint8Array[] },
): Promise<void> {
  const db = openForWriting(datadir)
  try {
    const chain = await openWritableChain(db, { genesis }, mode)
    const genesisHash = (await chain.genesisBlock()).hash
    const followed = followHere(t, chain, [upstream.url], {
      ...{ clock: systemClock, withReceipts: mode === 'none', genesisHash },
    })
    chain.sparse?.connect(createUpstreamSource(followed.rpc))
    await followed.reaches(head.hash)
    if (wanted.length > 0) await fetchAll(chain, followed.rpc, wanted)
    await followed.stop()
  } finally {
    db.close()
  }
}

async function fetchAll(
  { head, reader, sparse }: WritableChain,
  rpc: EthRpc,
  addresses: readonly Uint8Array[],
): Promise<void> {
  const { signal } = new AbortController()
  const figures = new StateFigures()
  const parts = {
    head,
    chain: reader,
    sparse: sparse!,
    rpc,
    clock: systemClock,
    signal,
    figures,
    keysPerSecond: 10_000,
  }
  const onDemand = new StateOnDemand(parts)
  const terms = { isProof: false, maxKeys: 100, timeoutMs: 60_000 }
  await Promise.all(addresses.map((address) => onDemand.fetch({ ...terms, keys: [{ address, slots: [] }] })))
  onDemand.close()
}

/** Compares every account and slot of the complete database at every height from the first block with state on.
 *  @returns how many were compared, and how many of them the other database does not know */
function compareState(datadir: string, complete: string, to?: number): { compared: number; unknown: number } {
  const [sparse, full] = [datadir, complete].map((each) => openForReading(each))
  try {
    const [own, wanted] = [createStateReads(sparse), createStateReads(full)]
    const first = readStateFirst(sparse)!
    const head = to ?? headOf(full)
    const counts = { compared: 0, unknown: 0 }
    const compare = (what: string, read: (from: typeof own) => unknown) => {
      let found: unknown
      try {
        found = read(own)
      } catch (error) {
        if (!(error instanceof MissingState)) throw error
        counts.unknown++
        return
      }
      counts.compared++
      assert.deepEqual(found, read(wanted), what)
    }
    for (const { address, slots } of listKeys(full)) {
      for (let number = first; number <= head; number++) {
        const name = `${formatData(address)} at block ${number}`
        compare(`balance of ${name}`, (from) => from.balance(address, number))
        compare(`nonce of ${name}`, (from) => from.nonce(address, number))
        compare(`code of ${name}`, (from) => from.code(address, number))
        for (const slot of slots)
          compare(`slot ${formatData(slot)} of ${name}`, (from) => from.storage(address, slot, number))
      }
    }
    return counts
  } finally {
    sparse.close()
    full.close()
  }
}

function headOf(db: ReturnType<typeof openForReading>): number {
  return db.prepare<[], number>('SELECT max(number) FROM blocks').pluck().get()!
}

function listKeys(db: ReturnType<typeof openForReading>): { address: Uint8Array; slots: Uint8Array[] }[] {
  const slots = db
    .prepare<[number], Uint8Array>('SELECT DISTINCT slot FROM storage_history WHERE address_id = ?')
    .pluck()
  const reader = createStateReader(db)
  return reader.latestAccounts(0, 10_000).map(({ address, addressId }) => ({ address, slots: slots.all(addressId) }))
}

function verify(datadir: string): void {
  auditDatabase(datadir, { parts: AUDIT_PARTS, startProgress: () => noProgress, report: () => {} })
}

function stateFirstOf(datadir: string): number | undefined {
  const db = openForReading(datadir)
  try {
    return readStateFirst(db)
  } finally {
    db.close()
  }
}

/** Without state up to the end of `trunk`, then raised. */
async function raised(t: TestContext, upstream: ForkingUpstream, trunk: readonly Block[]): Promise<string> {
  const datadir = temporaryDirectory(t)
  await follow(t, datadir, upstream, { mode: 'none', head: trunk.at(-1)! })
  const db = openForWriting(datadir)
  assert.equal(upgradeState(db).header.number, trunk.length)
  db.close()
  return datadir
}

for (const seed of THOROUGH ? [1, 2, 3] : [1]) {
  test(`forks above and below the first block with state, seed ${seed}`, async (t) => {
    const random = seededRandom(seed)
    let blocks = await grow(t, random, [], 24)
    const upstream = await startForkingUpstream(t, blocks, genesis)
    const datadir = await raised(t, upstream, blocks)
    let first = blocks.length
    const wanted = [LOGGER, ...SENDERS.map(({ address }) => address)]
    const counts = { below: 0, above: 0, compared: 0 }
    for (let step = 0; step < (THOROUGH ? 6 : 3); step++) {
      const depth = random.below(2) === 0 ? 1 + random.below(4) : 5 + random.below(10)
      const kept = blocks.slice(0, Math.max(1, blocks.length - depth))
      blocks = [...kept, ...(await grow(t, random, kept, 3 + random.below(6)))]
      if (kept.length < first) {
        counts.below++
        first = blocks.length
      } else counts.above++
      await upstream.become(blocks)
      await follow(t, datadir, upstream, { mode: 'sparse', head: blocks.at(-1)!, wanted })
      blocks = [...blocks, ...(await grow(t, random, blocks, 4 + random.below(4)))]
      await upstream.become(blocks)
      await follow(t, datadir, upstream, { mode: 'sparse', head: blocks.at(-1)!, wanted })
      assert.equal(stateFirstOf(datadir), first)
      const { compared, unknown } = compareState(datadir, upstream.datadir)
      assert.ok(compared >= 3 * wanted.length, `${compared} compared, ${unknown} unknown`)
      counts.compared += compared
      verify(datadir)
    }
    t.diagnostic(JSON.stringify(counts))
    assert.ok(counts.below > 0 && counts.above > 0 && counts.compared > 300)
  })
}

test('a value that is proved while blocks below the first one with state are removed is proved again', async (t) => {
  const trunk = await grow(t, seededRandom(7), [], 10)
  const upstream = await startForkingUpstream(t, trunk, genesis)
  const datadir = await raised(t, upstream, trunk)
  const db = openForWriting(datadir)
  t.after(() => void db.close())
  const chain = await openWritableChain(db, { genesis }, 'sparse')
  const genesisHash = (await chain.genesisBlock()).hash
  const followed = followHere(t, chain, [upstream.wsUrl], { clock: systemClock, genesisHash })
  const { rpc } = followed
  chain.sparse!.connect(createUpstreamSource(rpc))
  await followed.reaches(trunk.at(-1)!.hash)
  const kept = trunk.slice(0, 5)
  const other = [...kept, ...(await grow(t, seededRandom(9), kept, 5))]
  let asked = 0
  const proofs: typeof rpc.proofs = async (...args) => {
    const proved = await rpc.proofs(...args)
    if (asked++ === 0) {
      await upstream.become(other)
      await followed.reaches(other.at(-1)!.hash)
    }
    return proved
  }
  await fetchAll(chain, { ...rpc, proofs }, [SENDERS[0].address])
  await followed.stop()
  assert.equal(asked, 2)
  assert.equal(readStateFirst(db), 10)
  assert.equal(compareState(datadir, upstream.datadir).compared, 3)
  verify(datadir)
})

test('a rewind below the first block with state begins it again, and following resumes', async (t) => {
  const trunk = await grow(t, seededRandom(8), [], 20)
  const upstream = await startForkingUpstream(t, trunk, genesis)
  const datadir = await raised(t, upstream, trunk.slice(0, 20))
  const { stdout } = await runCairnAt(datadir, 'rewind', '--to', '12')
  assert.match(stdout, /the head is block 12; the sparse state begins again at the head of the upstream$/m)
  assert.equal(stateFirstOf(datadir), undefined)
  verify(datadir)
  await upstream.become(trunk.slice(0, 14))
  await follow(t, datadir, upstream, { mode: 'sparse', head: trunk[13] })
  assert.equal(stateFirstOf(datadir), 14)
  await upstream.become(trunk)
  await follow(t, datadir, upstream, { mode: 'sparse', head: trunk[19] })
  const above = await runCairnAt(datadir, 'rewind', '--to', '15')
  assert.match(above.stdout, /5 blocks removed .*; the head is block 15$/m)
  assert.equal(stateFirstOf(datadir), 14)
  await follow(t, datadir, upstream, { mode: 'sparse', head: trunk[19] })
  assert.ok(compareState(datadir, upstream.datadir).compared > 100)
  verify(datadir)
})

async function runCairnAt(datadir: string, command: string, ...args: string[]) {
  const ended = await runCairn([command, '--datadir', datadir, ...args])
  assert.equal(ended.code, 0, ended.stderr)
  return ended
}
