import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DATABASE_FILE } from '../../src/store/open.js'
import { applyOneByOne, applyReorgs, applyWaiting, growReplica } from './apply.js'
import { openChain, type StoredChain } from './chain.js'
import type { ReplicaRun } from './options.js'

/** The blocks of the run, made or kept from an earlier one. */
export async function openBlocks({ values, directory, after }: ReplicaRun): Promise<StoredChain> {
  const { keep = directory, accounts, slots, blocks, tip, reorg } = values
  mkdirSync(keep, { recursive: true })
  const chain = await openChain(keep, { accounts, slots, blocks: blocks + tip, reorg })
  after(chain.close)
  return chain
}

/** Copies the database of the state before the measured blocks. @returns the data directory */
async function copyGrown(run: ReplicaRun, name: string): Promise<string> {
  const grown = join(run.values.keep ?? run.directory, 'grown.db')
  if (!existsSync(grown)) await growReplica(await run.once(openBlocks), join(run.directory, 'grown'), grown)
  const datadir = join(run.directory, name)
  mkdirSync(datadir)
  copyFileSync(grown, join(datadir, DATABASE_FILE))
  return datadir
}

/** Applies the blocks that wait. @returns the database, to which later phases apply more, and the figures */
export async function catchUp(run: ReplicaRun) {
  const { blocks, interval: trieInterval } = run.values
  const datadir = await copyGrown(run, 'catchUp')
  const chain = await run.once(openBlocks)
  return { datadir, figures: await applyWaiting(chain, datadir, { blocks, trieInterval, isThreaded: true }) }
}

/** Applies blocks one by one. */
async function follow(run: ReplicaRun) {
  const { datadir } = await run.once(catchUp)
  const chain = await run.once(openBlocks)
  const first = chain.grown + run.values.blocks
  return applyOneByOne(chain, datadir, { from: first + 1, to: first + run.values.tip })
}

/** Times blocks that come one by one. */
export const measureTip = (run: ReplicaRun) => run.once(follow)

/** Times reorgs at the tip. */
export async function measureReorgs(run: ReplicaRun) {
  await run.once(follow)
  return applyReorgs(await run.once(openBlocks), (await run.once(catchUp)).datadir, REORGS)
}

/** Catches up with at most 200 blocks in one thread, with a root for each. */
export async function measureBaseline(run: ReplicaRun) {
  const blocks = Math.min(run.values.blocks, MOST_BASELINE_BLOCKS)
  const datadir = await copyGrown(run, 'baseline')
  return applyWaiting(await run.once(openBlocks), datadir, { blocks, trieInterval: 1, isThreaded: false })
}

const REORGS = 6
const MOST_BASELINE_BLOCKS = 200
