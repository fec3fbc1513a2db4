import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Address,
  encodeAbiParameters,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
} from 'viem'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import {
  createChainBuilder,
  createSender,
  type Sender,
  type TransactionPlan,
} from '../../../tools/fixture/chainBuilder.js'
import { SYSTEM_ACCOUNTS } from '../../../tools/fixture/genesis.js'
import { seededRandom } from '../random.js'
import { temporaryDirectory } from '../temporary.js'
import { createForkGenesis } from './forkGenesis.js'
import { type ContractName, readContracts } from './solidityContracts.js'

/* A chain of token transfers: ERC-20 tokens with hostile metadata, one that keeps a fee, one behind a proxy, ERC-721,
 * and batches of ERC-1155. */

const { contracts } = readContracts()
// 100,000 ether
const RICH = '0x152d02c7e14af6800000'
const ZERO: Address = `0x${'00'.repeat(20)}`
const SUPPLY = 10n ** 24n
const ROUNDS = 24

/** Characters of the name of `huge`. */
export const HUGE_NAME = 1_000_000

const TOKENS = ['plain', 'bytes32', 'reverting', 'huge', 'dirty', 'fee', 'proxied', 'nft', 'multi'] as const
export type TokenName = (typeof TOKENS)[number]

/** Where the chain is, and who is on it. Addresses are in lower case. */
export interface TokenChain {
  /** A folder with `genesis.json` and `chain.rlp`. */
  readonly folder: string
  readonly tokens: { readonly [name in TokenName]: Address }
  /** The accounts that send and receive; the first one is the owner of each supply. */
  readonly accounts: readonly Address[]
  /** Number of the newest block. */
  readonly head: number
}

const string = (value: string): Hex => encodeAbiParameters([{ type: 'string' }], [value])
const uint = (value: bigint): Hex => encodeAbiParameters([{ type: 'uint256' }], [value])
const padRight = (text: string): Hex => `0x${Buffer.from(text).toString('hex').padEnd(64, '0')}`

/** A string whose bytes are no UTF-8, with characters that control the terminal and the direction of text. */
const DIRTY_NAME: Hex = encodeAbiParameters(
  [{ type: 'bytes' }],
  [`0x${Buffer.from('Go\u001b[31mld\u202egnp\u0000', 'utf8').toString('hex')}fffe41`],
)

/** Output of name, symbol and decimals. No bytes: the call reverts; one byte: a million of that character. */
const METADATA = {
  plain: [string('Plain Token'), string('PLN'), uint(18n)],
  bytes32: [padRight('Maker'), padRight('MKR'), uint(18n)],
  reverting: ['0x', '0x', '0x'],
  huge: ['0x78', '0x79', uint(256n)],
  // The symbol's length is beyond the data.
  dirty: [DIRTY_NAME, `${uint(32n)}${'ff'.repeat(32)}41`, uint(2n ** 255n)],
} as const satisfies { [name: string]: readonly [Hex, Hex, Hex] }

function creation(name: ContractName, ...args: unknown[]): Hex {
  const { abi, bytecode } = contracts[name]
  return encodeDeployData({ abi, bytecode, args })
}

function calldata(name: ContractName, functionName: string, ...args: unknown[]): Hex {
  return encodeFunctionData({ abi: contracts[name].abi, functionName, args })
}

const addressOf = ({ address }: Sender) => formatData(address) as Address

/** Writes the chain of a seed: a block per contract, then random transfers. */
export async function writeTokenChain(t: { after(end: () => void): void }, seed = 1): Promise<TokenChain> {
  const folder = temporaryDirectory(t)
  const senders = ['ann', 'ben', 'cat', 'dan'].map((word) => createSender(`tokens ${word}`))
  const genesis = createForkGenesis('osaka', {
    ...SYSTEM_ACCOUNTS,
    ...Object.fromEntries(senders.map((sender) => [addressOf(sender), { balance: RICH }])),
  })
  const db = openForWriting(temporaryDirectory(t))
  const builder = await createChainBuilder(db, genesis)
  const [owner] = senders
  const mine = async (transactions: TransactionPlan[]) => {
    const { receipts } = await builder.add({ transactions })
    const failed = receipts.findIndex(({ status }) => status !== 1)
    if (failed >= 0) throw new Error(`block ${builder.blocks.length}: transaction ${failed} failed`)
  }
  const deploy = async (input: Hex): Promise<Address> => {
    const address = getContractAddress({ from: addressOf(owner), nonce: owner.nonce })
    await mine([{ sender: owner, input: parseHex(input), gasLimit: 3_000_000n }])
    return address.toLowerCase() as Address
  }
  const send = (sender: Sender, to: Address, input: Hex): TransactionPlan => ({
    sender,
    to: parseHex(to),
    input: parseHex(input),
    gasLimit: 500_000n,
  })

  const tokens = {} as { [name in TokenName]: Address }
  for (const [name, outputs] of Object.entries(METADATA)) {
    tokens[name as TokenName] = await deploy(creation('OddToken', ...outputs, addressOf(owner), SUPPLY))
  }
  tokens.fee = await deploy(creation('FeeToken'))
  await mine([send(owner, tokens.fee, calldata('FeeToken', 'initialize', 'Fee', 'FEE', addressOf(owner), SUPPLY))])
  const initialize = calldata('FeeToken', 'initialize', 'Proxied', 'PRX', addressOf(owner), SUPPLY)
  tokens.proxied = await deploy(creation('ERC1967Proxy', tokens.fee, initialize))
  tokens.nft = await deploy(creation('Collectible', 'Things', 'THING', 'https://things.example/'))
  tokens.multi = await deploy(creation('MultiToken'))

  const random = seededRandom(seed)
  const anyOf = <T>(values: readonly T[]) => values[random.below(values.length)]
  const parties: Address[] = [...senders.map(addressOf), `0x${'77'.repeat(20)}`]
  const erc20 = ['plain', 'bytes32', 'reverting', 'huge', 'dirty', 'fee', 'proxied'] as const
  await mine([
    ...erc20.map((name) => send(owner, tokens[name], calldata('FeeToken', 'transfer', parties[1], SUPPLY / 4n))),
    send(owner, tokens.multi, calldata('MultiToken', 'mintBatch', parties[0], [1n, 2n, 3n], [1000n, 2000n, 3000n])),
    send(owner, tokens.multi, calldata('MultiToken', 'mintBatch', parties[1], [2n, 2n], [7n, 8n])),
    // A batch that no standard encodes.
    send(owner, tokens.multi, calldata('MultiToken', 'logBatch', parties[1], `0x${'ff'.repeat(96)}`)),
  ])
  const owners: Sender[] = [] // of the NFTs, by their ids from 1 on
  for (let round = 0; round < ROUNDS; round++) {
    const transactions: TransactionPlan[] = []
    for (let i = random.below(4); i >= 0; i--) {
      const [sender, to] = [anyOf(senders.slice(0, 2)), anyOf(parties)]
      const choice = random.below(5)
      if (choice === 0) {
        const minter = anyOf(senders)
        transactions.push(send(minter, tokens.nft, calldata('Collectible', 'mint', addressOf(minter))))
        owners.push(minter)
      } else if (choice === 1 && owners.length > 0) {
        const id = 1 + random.below(owners.length)
        const next = anyOf(senders)
        const args = [addressOf(owners[id - 1]), addressOf(next), BigInt(id)]
        transactions.push(send(owners[id - 1], tokens.nft, calldata('Collectible', 'transferFrom', ...args)))
        owners[id - 1] = next
      } else if (choice === 2) {
        const args = [parties[0], to, [1n, 3n, 1n], [BigInt(random.below(3)), 1n, 2n], '0x']
        transactions.push(send(owner, tokens.multi, calldata('MultiToken', 'safeBatchTransferFrom', ...args)))
      } else if (choice === 3) {
        const args = [parties[0], to, 2n, BigInt(random.below(4)), '0x']
        transactions.push(send(owner, tokens.multi, calldata('MultiToken', 'safeTransferFrom', ...args)))
      } else {
        const value = random.below(6) === 0 ? 0n : BigInt(random.below(1_000_000)) * 10n ** 9n
        const receiver = random.below(8) === 0 ? ZERO : to
        transactions.push(send(sender, tokens[anyOf(erc20)], calldata('FeeToken', 'transfer', receiver, value)))
      }
    }
    await mine(transactions)
  }
  writeFileSync(join(folder, 'genesis.json'), JSON.stringify(genesis))
  writeFileSync(join(folder, 'chain.rlp'), builder.encode())
  const head = builder.blocks.length
  db.close()
  return { folder, tokens, accounts: parties, head }
}
