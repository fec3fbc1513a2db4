import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { keccak256 } from '../../../src/chain/crypto.js'
import type { Rules } from '../../../src/chain/eth/forks/rules.js'
import { DecodeError, encodeRlp } from '../../../src/chain/eth/rlp.js'
import { decodeTransaction } from '../../../src/chain/eth/transaction.js'
import type { Header, Log } from '../../../src/chain/eth/types.js'
import { createForkTables } from '../../../src/evm/interpreter/allPrecompiles.js'
import type { ForkTables } from '../../../src/evm/interpreter/forkTables.js'
import type { NewAccount } from '../../../src/evm/interpreter/journal/journalAccount.js'
import { Machine } from '../../../src/evm/interpreter/machine.js'
import { createPrecompiles } from '../../../src/evm/interpreter/precompiles/curves.js'
import { loadKzgVerifier } from '../../../src/evm/interpreter/precompiles/kzg.js'
import { createEvmRules } from '../../../src/evm/interpreter/rules.js'
import { TransactionRefused } from '../../../src/evm/transition/checkTransaction.js'
import { applyTransaction, blockEnvironment } from '../../../src/evm/transition/transaction.js'
import { noDeadline } from '../../../src/lib/deadline.js'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import { jsonFiles, type TestAccount } from './blockchainTest.js'
import { forkOfTests, rulesOf } from './forks.js'
import { createTestJournal } from './memoryState.js'

const NO_GAS = { execution: 0n, state: 0n }

/** One file of the official state tests: a transaction in variants on a state, and the state after each by fork. */
interface StateTest {
  env: { [key: string]: string }
  pre: { [address: string]: TestAccount }
  post: { [fork: string]: Post[] }
}

interface Post {
  hash: string
  logs: string
  txbytes: string
  expectException?: string
  indexes: { data: number; gas: number; value: number }
}

/** One variant at one fork. */
export interface StateCase {
  name: string
  fork: string
  test: StateTest
  post: Post
}

/** All cases below a folder, by file, test, fork and number. */
export function* readStateCases(folder: string): Generator<StateCase> {
  for (const path of jsonFiles(folder)) {
    const file = JSON.parse(readFileSync(path, 'utf8')) as { [name: string]: StateTest }
    for (const test of Object.values(file)) {
      for (const [fork, posts] of Object.entries(test.post)) {
        for (const [index, post] of posts.entries()) {
          yield { name: `${relative(folder, path)} ${fork} ${index}`, fork, test, post }
        }
      }
    }
  }
}

/** Runs cases on one machine. The function says what differs, or gives nothing when all is as it should be. */
export async function createStateCaseRunner(): Promise<(testCase: StateCase) => string | undefined> {
  const tables = createForkTables(await loadKzgVerifier())
  return (testCase) => runCase(testCase, rulesOf(forkOfTests(testCase.fork)), tables)
}

/** Runs the cases of EIP-2537 that were filled in 2024, with its draft of then: nine precompiles from address 11 on,
 *  single multiplications among them, at other prices, and nothing else of Prague. The arithmetic is that of today. */
export function createDraftBlsRunner(): (testCase: StateCase) => string | undefined {
  const rules = rulesOf('cancun')
  const final = createPrecompiles(rulesOf('prague'), () => false)
  const precompiles = createPrecompiles(rules, () => false)
  const at = (address: number, finalAddress: number, gas: (length: number) => number) => {
    precompiles[address] = { gas: ({ length }) => gas(length), run: final[finalAddress]!.run }
  }
  const discountOf16 = 0.334 // the tests have no other number of points
  at(11, 11, () => 500)
  at(12, 12, () => 12_000)
  at(13, 12, (length) => (length / 160) * 12_000 * discountOf16)
  at(14, 13, () => 800)
  at(15, 14, () => 45_000)
  at(16, 14, (length) => (length / 288) * 45_000 * discountOf16)
  at(17, 15, (length) => 65_000 + 43_000 * (length / 384))
  at(18, 16, () => 5500)
  at(19, 17, () => 75_000)
  const tables = { rules: createEvmRules(rules), precompiles }
  return (testCase) => runCase(testCase, rules, () => tables)
}

function runCase({ test, post }: StateCase, rules: Rules, tables: (rules: Rules) => ForkTables): string | undefined {
  const header = headerOf(test.env, rules)
  const { state, journal } = createTestJournal(
    Object.entries(test.pre).map(([address, account]) => [parseHex(address), newAccount(account)]),
  )
  const environment = blockEnvironment(header, rules, {
    chainId: 1n,
    blockHash: (number) => keccak256(Buffer.from(String(number))),
  })
  const machine = new Machine({ ...tables(rules), environment, state: journal, deadline: noDeadline })
  let logs: Log[] = []
  let refused: string | undefined
  try {
    const transaction = decodeTransaction(parseHex(post.txbytes))
    refused = refusalByItself(transaction, rules)
    if (refused === undefined) {
      logs = applyTransaction({ machine, journal, rules, header, chainId: 1n, environment }, transaction, NO_GAS).logs
    }
  } catch (error) {
    if (!(error instanceof TransactionRefused) && !(error instanceof DecodeError)) throw error
    refused = error.message
  }
  // The tests' block rewards its miner with nothing, which counts as touching it.
  journal.touch(journal.account(header.miner))
  journal.endTransaction(machine.rules.eip161)
  if ((refused !== undefined) !== (post.expectException !== undefined)) {
    return `expected ${post.expectException ?? 'no refusal'}, got ${refused ?? 'none'}`
  }
  const logsHash = formatData(keccak256(encodeRlp(logs.map(({ address, topics, data }) => [address, topics, data]))))
  if (logsHash !== post.logs) return `logs hash ${logsHash} instead of ${post.logs}`
  state.apply(journal.takeChanges())
  const root = formatData(state.root())
  return root === post.hash ? undefined : `state root ${root} instead of ${post.hash}`
}

/** Rules that need neither state nor block, which are checked before execution: see `sync/validate/verify`. */
function refusalByItself(
  { blobVersionedHashes: hashes, to, input, gasLimit }: ReturnType<typeof decodeTransaction>,
  rules: Rules,
): string | undefined {
  if (hashes !== undefined) {
    if (hashes.length === 0 || hashes.length > rules.blobs!.max) return 'blob count'
    if (hashes.some((hash) => hash[0] !== 1)) return 'blob version'
  }
  if (to === undefined && rules.has('shanghai') && input.length > 49_152) return 'init code size'
  if (rules.has('osaka') && gasLimit > 2n ** 24n) return 'gas limit'
  return undefined
}

function newAccount({ nonce, balance, code, storage }: TestAccount): NewAccount {
  return {
    nonce: BigInt(nonce),
    balance: BigInt(balance),
    code: parseHex(code),
    storage: Object.entries(storage).map(([slot, value]) => ({
      slot: parseHex(evenHex(slot)),
      value: parseHex(evenHex(value)),
    })),
  }
}

const evenHex = (text: string) => {
  const digits = text.slice(2)
  return digits.length % 2 === 0 ? digits : `0${digits}`
}

function headerOf(env: { [key: string]: string }, rules: Rules): Header {
  const zeros = (length: number) => new Uint8Array(length)
  return {
    parentHash: zeros(32),
    unclesHash: zeros(32),
    miner: parseHex(env.currentCoinbase),
    stateRoot: zeros(32),
    transactionsRoot: zeros(32),
    receiptsRoot: zeros(32),
    logsBloom: zeros(256),
    difficulty: BigInt(env.currentDifficulty ?? 0),
    number: Number(env.currentNumber),
    gasLimit: BigInt(env.currentGasLimit),
    gasUsed: 0n,
    timestamp: BigInt(env.currentTimestamp),
    extraData: zeros(0),
    mixHash:
      rules.isProofOfStake && env.currentRandom ? parseHex(evenHex(env.currentRandom).padStart(64, '0')) : zeros(32),
    nonce: zeros(8),
    baseFeePerGas: rules.has('london') ? BigInt(env.currentBaseFee ?? 10) : undefined,
    excessBlobGas: rules.has('cancun') ? BigInt(env.currentExcessBlobGas ?? 0) : undefined,
  }
}

/** Runs every n-th case below a folder. Returns how many cases there are, and what is wrong with those that fail. */
export function runFolder(
  folder: string,
  run: (testCase: StateCase) => string | undefined,
  every = 1,
): { count: number; failures: string[] } {
  const failures: string[] = []
  let count = 0
  for (const testCase of readStateCases(folder)) {
    if (count++ % every > 0) continue
    const failure = run(testCase)
    if (failure !== undefined) failures.push(`${testCase.name}: ${failure}`)
  }
  return { count, failures }
}
