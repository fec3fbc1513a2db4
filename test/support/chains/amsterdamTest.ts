import { decodeBlock } from '../../../src/chain/eth/block.js'
import { encodeBlockAccessList } from '../../../src/chain/eth/blockAccessList.js'
import { bloomOf } from '../../../src/chain/eth/bloom.js'
import { rulesAt } from '../../../src/chain/eth/forks/rules.js'
import { parseGenesis } from '../../../src/chain/eth/genesis.js'
import { hashHeader } from '../../../src/chain/eth/header.js'
import { encodeReceipt, receiptsRoot } from '../../../src/chain/eth/receipt.js'
import type { Block } from '../../../src/chain/eth/types.js'
import { createForkTables } from '../../../src/evm/interpreter/allPrecompiles.js'
import { Machine } from '../../../src/evm/interpreter/machine.js'
import { loadKzgVerifier } from '../../../src/evm/interpreter/precompiles/kzg.js'
import { runBlock } from '../../../src/evm/transition/block.js'
import type { BlockOutcome } from '../../../src/evm/transition/blockOutcome.js'
import { hashRequests } from '../../../src/evm/transition/system.js'
import { blockEnvironment } from '../../../src/evm/transition/transaction.js'
import { noDeadline } from '../../../src/lib/deadline.js'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import { type BlockchainTest, genesisOf, type TestBlock } from './blockchainTest.js'
import { createTestJournal, type MemoryState } from './memoryState.js'

/** A block of the Amsterdam tests: `FORMAT.md` beside them describes it. */
export interface AmsterdamBlock extends TestBlock {
  blockAccessListRLP: string
  requests: string[]
  receipts: { rlp: string; gasUsed: string; status: boolean }[]
  gasDimensions: { executionGas: string; stateGas: string; gasUsed: string }[]
  blockExecutionGasUsed: string
  blockStateGasUsed: string
}

export type AmsterdamTest = BlockchainTest & { blocks: AmsterdamBlock[] }

/** Runs the valid blocks of such tests in memory. */
export type AmsterdamRunner = (test: AmsterdamTest) => string[]

/** A runner; the result has a line for each difference. */
export async function createAmsterdamRunner(withWasm: boolean): Promise<AmsterdamRunner> {
  const tables = createForkTables(await loadKzgVerifier())
  return (test) => {
    const { spec, accounts, header } = parseGenesis(genesisOf(test))
    const { state, journal } = createTestJournal(accounts.map((account) => [account.address, account]))
    const genesis = { ...header, stateRoot: state.root() }
    const hashes = [hashHeader(genesis)]
    if (formatData(hashes[0]) !== test.genesisBlockHeader.hash) return ['genesis hash']
    const rootOf = () => {
      state.apply(journal.takeChanges())
      return state.root()
    }
    const blockHash = (number: number) => hashes[number]
    const rulesFor = ({ header: { number, timestamp } }: Pick<Block, 'header'>) => rulesAt(spec, number, timestamp)
    const environment = blockEnvironment(genesis, rulesFor({ header: genesis }), { chainId: spec.chainId, blockHash })
    const parts = { ...tables(rulesFor({ header: genesis })), environment, state: journal, deadline: noDeadline }
    const machine = new Machine({ ...parts, withWasm })
    const refuse = (_index: number, _transaction: unknown, refused: Error) => refused
    const site = { spec, machine, journal, blockHash, bloomOf, roots: { now: rootOf, atEnd: rootOf }, refuse }
    for (const expected of test.blocks) {
      if (expected.expectException !== undefined) continue
      const block = decodeBlock(parseHex(expected.rlp))
      const rules = rulesFor(block)
      const differences = compare(block, expected, runBlock(site, block, { rules, tables: tables(rules) }))
      if (differences.length > 0) return differences
      hashes[block.header.number] = block.hash
    }
    return comparePostState(test, state)
  }
}

function compare({ header }: Block, expected: AmsterdamBlock, outcome: BlockOutcome): string[] {
  const { receipts, transactionGas = [], requestsHash, blockAccessList, stateRoot, gasUsed } = outcome
  const differences: string[] = []
  const equal = (name: string, ours: unknown, theirs: unknown) => {
    if (ours !== theirs) differences.push(`block ${header.number}: ${name}: expected ${theirs}, got ${ours}`)
  }
  for (const [index, { rlp, gasUsed: paid }] of expected.receipts.entries()) {
    equal(`paid gas ${index}`, receipts[index].gasUsed, BigInt(paid))
    equal(`receipt ${index}`, formatData(encodeReceipt(receipts[index])), rlp)
  }
  if (header.blockAccessListHash !== undefined) {
    for (const [index, { executionGas, stateGas }] of expected.gasDimensions.entries()) {
      equal(`execution gas ${index}`, transactionGas[index].execution, BigInt(executionGas))
      equal(`state gas ${index}`, transactionGas[index].state, BigInt(stateGas))
    }
    equal('access list', formatData(encodeBlockAccessList(blockAccessList!)), expected.blockAccessListRLP)
  }
  const requests: Uint8Array[] = []
  for (const request of expected.requests.map(parseHex)) requests[request[0]] = request.subarray(1)
  for (let type = 0; type < requests.length; type++) requests[type] ??= new Uint8Array(0)
  equal('requests', formatData(requestsHash!), formatData(hashRequests(requests)))
  equal('requests hash', formatData(requestsHash!), formatData(header.requestsHash!))
  equal('gas used', gasUsed, header.gasUsed)
  equal('receipts root', formatData(receiptsRoot(receipts)), formatData(header.receiptsRoot))
  equal('state root', formatData(stateRoot!), formatData(header.stateRoot))
  return differences
}

/** Accounts and slots of the state that are not as the test says; it names all. */
function comparePostState({ postState = {} }: AmsterdamTest, state: MemoryState): string[] {
  return Object.entries(postState).flatMap(([address, expected]) => {
    const account = state.account(parseHex(address))?.account
    const slots = Object.entries(expected.storage).filter(
      ([slot, value]) => toInteger(state.storage(parseHex(address), toWord(slot))) !== BigInt(value),
    )
    const isSame = account?.balance === BigInt(expected.balance) && account.nonce === BigInt(expected.nonce)
    return isSame && slots.length === 0 ? [] : [`account ${address} after the last block`]
  })
}

const toWord = (slot: string) => parseHex(`0x${slot.slice(2).padStart(64, '0')}`)
const toInteger = (bytes: Uint8Array) => (bytes.length === 0 ? 0n : BigInt(formatData(bytes)))
