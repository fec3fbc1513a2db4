import { bloomOf } from '../../../src/chain/eth/bloom.js'
import type { Rules } from '../../../src/chain/eth/forks/rules.js'
import { rulesAt } from '../../../src/chain/eth/forks/rules.js'
import type { Genesis } from '../../../src/chain/eth/genesis.js'
import { receiptsRoot } from '../../../src/chain/eth/receipt.js'
import type { Block } from '../../../src/chain/eth/types.js'
import { createEnvironment } from '../../../src/evm/interpreter/environment.js'
import type { ForkTables } from '../../../src/evm/interpreter/forkTables.js'
import { Machine } from '../../../src/evm/interpreter/machine.js'
import { runBlock } from '../../../src/evm/transition/block.js'
import type { BlockOutcome } from '../../../src/evm/transition/blockOutcome.js'
import { equalBytes } from '../../../src/lib/bytes.js'
import { noDeadline } from '../../../src/lib/deadline.js'
import { formatData } from '../../../src/lib/hex.js'
import { createTestJournal } from './memoryState.js'

/** Runs the blocks of a chain one after another on our interpreter, over a state in memory. */
export interface BlockRunner {
  /** The state root now. */
  root(): Uint8Array
  /** What differs between a block's execution and its header; undefined when nothing does. After a difference, or when
   *  it throws, the block is given up. */
  run(block: Block): string | undefined
}

/** A runner on top of a genesis. `tables` are those of its forks. */
export function createBlockRunner(
  { spec, accounts, header }: Genesis,
  tables: (rules: Rules) => ForkTables,
): BlockRunner {
  const { state, journal } = createTestJournal(accounts.map((account) => [account.address, account]))
  const genesisRules = rulesAt(spec, 0, header.timestamp)
  const environment = createEnvironment(
    {
      number: 0,
      timestamp: 0n,
      coinbase: new Uint8Array(20),
      gasLimit: 0n,
      difficulty: 0n,
      prevRandao: new Uint8Array(32),
      baseFeePerGas: 0n,
      blobBaseFee: 0n,
      chainId: spec.chainId,
      blockHash: () => new Uint8Array(32),
    },
    false,
  )
  const machine = new Machine({ ...tables(genesisRules), environment, state: journal, deadline: noDeadline })
  const hashes: Uint8Array[] = []
  let totalDifficulty = header.difficulty
  const rootOf = () => {
    state.apply(journal.takeChanges())
    return state.root()
  }
  const run = (block: Block): string | undefined => {
    const { number, parentHash } = block.header
    hashes[number - 1] = parentHash
    const rules = rulesAt(spec, number, block.header.timestamp, totalDifficulty)
    const site = {
      spec,
      machine,
      journal,
      blockHash: (at: number) => hashes[at],
      bloomOf,
      roots: { now: rootOf, atEnd: rootOf },
      refuse: (_index: number, _transaction: unknown, refused: Error) => refused,
    }
    const difference = compare(block, runBlock(site, block, { rules, tables: tables(rules) }))
    totalDifficulty += block.header.difficulty
    return difference
  }
  return { root: () => state.root(), run }
}

function compare({ header }: Block, { gasUsed, receipts, stateRoot, requestsHash }: BlockOutcome): string | undefined {
  if (gasUsed !== header.gasUsed) return `gas used ${gasUsed} instead of ${header.gasUsed}`
  if (!equalBytes(stateRoot!, header.stateRoot)) {
    return `state root ${formatData(stateRoot!)} instead of ${formatData(header.stateRoot)}`
  }
  if (!equalBytes(receiptsRoot(receipts), header.receiptsRoot)) return 'receipts root'
  if (header.requestsHash && !equalBytes(requestsHash!, header.requestsHash)) return 'requests hash'
  return undefined
}
