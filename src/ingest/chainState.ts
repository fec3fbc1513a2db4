import { isDeepStrictEqual } from 'node:util'
import { encodeBlock } from '../chain/eth/block.js'
import type { ChainSpec } from '../chain/eth/forks.js'
import type { Genesis } from '../chain/eth/genesis.js'
import { hashHeader } from '../chain/eth/header.js'
import type { Block } from '../chain/eth/types.js'
import { createExecutor, type Executor } from '../evm/execute.js'
import { UsageError } from '../lib/errors.js'
import { createLogIndexer, type LogIndexer } from '../logs/indexer.js'
import { type ChainReader, createChainReader } from '../store/chainReader.js'
import { type ChainSource, genesisOfSource, readChainSource, specOfSource } from '../store/chainSource.js'
import { type ChainWriter, createChainWriter } from '../store/chainWriter.js'
import { createMetaTable, META_CHAIN, META_CHAIN_ID, META_STATE_MODE } from '../store/meta.js'
import type { Database } from '../store/open.js'
import { createStateReader } from '../store/stateReader.js'

/** Whether blocks are executed, with state kept at every block, or only their receipts are taken and checked. */
export type StateMode = 'execute' | 'none'

/** A chain that is being written. */
export interface WritableChain {
  readonly spec: ChainSpec
  readonly stateMode: StateMode
  readonly reader: ChainReader
  readonly writer: ChainWriter
  readonly indexer: LogIndexer
  /** Present when blocks are executed. */
  readonly executor?: Executor
  /** Block 0 as the genesis makes it; its state is hashed when asked. Only without execution. */
  genesisBlock(): Promise<Block>
}

/** The chain of a database opened for writing. The first time, `wanted` says which it is, and with execution its
 *  genesis state and block 0 are stored.
 *  @throws UsageError when the database holds another chain or state mode, or nothing says which chain it is;
 *    InvalidGenesis. */
export async function openWritableChain(
  db: Database,
  wanted: ChainSource | undefined,
  wantedMode: StateMode | undefined,
): Promise<WritableChain> {
  const held = readChainSource(db)
  const source = held ?? wanted
  if (!source) throw new UsageError('which chain is it? say --genesis FILE or --network mainnet|sepolia|holesky|hoodi')
  if (held && wanted && !isDeepStrictEqual(held, wanted)) {
    throw new UsageError('the database was begun with another genesis or network; use another --datadir')
  }
  const meta = createMetaTable(db)
  const heldMode = meta.get<StateMode>(META_STATE_MODE)
  const stateMode = heldMode ?? wantedMode ?? 'execute'
  if (wantedMode !== undefined && wantedMode !== stateMode) {
    throw new UsageError(
      `--state ${wantedMode}: the database was begun with --state ${stateMode}; use another --datadir`,
    )
  }
  const spec = specOfSource(source)
  const reader = createChainReader(db)
  const writer = createChainWriter(db)
  const indexer = createLogIndexer(db)
  const newExecutor = () => createExecutor(spec, createStateReader(db), (number) => reader.blockHash(number))
  const executor = stateMode === 'execute' ? newExecutor() : undefined
  if (!held) {
    const genesis = genesisOfSource(source)
    const block = executor && (await layGenesis(genesis, executor))
    writer.begin()
    meta.set(META_CHAIN, source)
    meta.set(META_CHAIN_ID, spec.chainId.toString())
    meta.set(META_STATE_MODE, stateMode)
    if (block) writer.insertBlock(block, [], block.header.difficulty, executor.accept())
    writer.commit()
  }
  if (indexer.isBehind()) {
    writer.begin()
    indexer.add([])
    indexer.work(Number.POSITIVE_INFINITY)
    writer.commit()
  }
  const genesisBlock = async () => {
    const scratch = newExecutor()
    const block = await layGenesis(genesisOfSource(source), scratch)
    scratch.discard()
    return block
  }
  return { spec, stateMode, reader, writer, indexer, executor, genesisBlock }
}

/** Block 0 over the state that the executor has then. */
async function layGenesis(genesis: Genesis, executor: Executor): Promise<Block> {
  const header = { ...genesis.header, stateRoot: await executor.layGenesis(genesis) }
  const withdrawals = header.withdrawalsRoot ? [] : undefined
  const block: Block = { hash: hashHeader(header), header, transactions: [], uncles: [], withdrawals, sizeBytes: 0 }
  return { ...block, sizeBytes: encodeBlock(block).length }
}
