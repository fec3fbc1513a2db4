import assert from 'node:assert/strict'
import { type Address, encodeDeployData, encodeFunctionData, getContractAddress, type Hex, pad, toHex } from 'viem'
import { formatQuantity } from '../../../src/lib/hex.js'
import type { Ask } from '../compare/allAnswers.js'
import { resultOf } from '../rpcClient.js'
import type { Peer } from '../upstream/followPeer.js'
import { type ContractName, readContracts } from './solidityContracts.js'

/** keccak256("eip1967.proxy.implementation") - 1 (EIP-1967) */
const IMPLEMENTATION_SLOT = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
const ETHER = '0x0000000000000000000000000000000000000000'
const KEPT = 2n
const MILLION = 10n ** 6n

/** A transaction, without its sender, and what must become of it. */
interface Step {
  transaction: { gas: string; to?: string; data?: Hex; value?: string }
  /** What its receipt must say. */
  succeeds: boolean
  logs: boolean
}

type Deployed = {
  readonly [name in Exclude<ContractName, 'OddToken' | 'FeeToken' | 'MultiToken' | 'Cabinet'>]: Address
}

interface Receipt {
  status: string
  contractAddress: Address
  logs: unknown[]
}

const { contracts } = readContracts()

/** The creation code of a contract with its arguments. */
function creation(name: ContractName, ...args: unknown[]): Hex {
  const { abi, bytecode } = contracts[name]
  return encodeDeployData({ abi, bytecode, args })
}

function calldata(name: ContractName, functionName: string, ...args: unknown[]): Hex {
  return encodeFunctionData({ abi: contracts[name].abi, functionName, args })
}

/** Solidity contracts on a peer, and transactions for them: tokens, collectibles, a factory, a proxy that is upgraded,
 *  contracts that are destroyed in the transaction that creates them. */
export class EverydayContracts {
  readonly #peer: Peer
  readonly #gas: string
  readonly #owner: Address
  readonly #at: Deployed
  /** The first block with all of them. */
  readonly #from: number
  readonly #made: Step[] = []
  #cycle = 0
  #pending: Step[] = []

  private constructor(peer: Peer, gas: string, { owner, at, from }: { owner: Address; at: Deployed; from: number }) {
    this.#peer = peer
    this.#gas = gas
    this.#owner = owner
    this.#at = at
    this.#from = from
  }

  /** Deploys the contracts, each in a block of its own. Each transaction may use `gas`, the dearest deployment needs
   *  1,900,000 before EIP-8037. */
  static async deploy(peer: Peer, gas: string): Promise<EverydayContracts> {
    const [owner] = await resultOf<Address[]>(peer.url, 'eth_accounts')
    const deploy = async (...codes: Hex[]): Promise<Address[]> => {
      const hashes = await peer.mine(codes.map((data) => ({ gas, data })))
      const receipts = await Promise.all(hashes.map((hash) => receiptOf(peer, hash)))
      for (const [i, { status }] of receipts.entries()) assert.equal(status, '0x1', `deployment ${i}`)
      return receipts.map(({ contractAddress }) => contractAddress)
    }
    const [Token, Collectible, Factory, Vault, VaultV2, Runner] = await deploy(
      creation('Token', 'Everyday', 'DAY', owner, 1000n * MILLION),
      creation('Collectible', 'Everyday things', 'THING', 'https://things.example/'),
      creation('Factory'),
      creation('Vault'),
      creation('VaultV2'),
      creation('Runner'),
    )
    const [proxy] = await deploy(creation('ERC1967Proxy', Vault, calldata('Vault', 'initialize', owner)))
    const at = { Token, Collectible, Factory, Vault, VaultV2, Runner, ERC1967Proxy: proxy }
    const from = Number(await resultOf<string>(peer.url, 'eth_blockNumber'))
    return new EverydayContracts(peer, gas, { owner, at, from })
  }

  /** The next transaction, without its sender. */
  make(): object {
    if (this.#pending.length === 0) this.#pending = this.#makeCycle(this.#cycle++)
    const step = this.#pending.shift()!
    this.#made.push(step)
    return step.transaction
  }

  /** Fails unless the transactions that `make` returned, by their hashes, did what they are for. */
  async checkReceipts(hashes: readonly string[]): Promise<void> {
    assert.equal(hashes.length, this.#made.length)
    for (const [i, { transaction, succeeds, logs }] of this.#made.entries()) {
      const receipt = await receiptOf(this.#peer, hashes[i])
      const found = { succeeds: receipt.status === '0x1', logs: receipt.logs.length > 0 }
      assert.deepEqual(found, { succeeds, logs }, `transaction ${i}: ${JSON.stringify(transaction)}`)
    }
  }

  /** Calls of the contracts in the state of the block (one call reverts), and the proof of the proxy's implementation;
   *  nothing before they are deployed, since proofs of absent accounts differ by design. */
  asksAt(blockNumber: number): Ask[] {
    if (blockNumber < this.#from) return []
    const { Token, Collectible, Factory, ERC1967Proxy: proxy } = this.#at
    const block = formatQuantity(blockNumber)
    const call = (to: Address, data: Hex): Ask => ({ method: 'eth_call', params: [{ to, data }, block] })
    return [
      call(Token, calldata('Token', 'totalSupply')),
      call(Token, calldata('Token', 'balanceOf', proxy)),
      call(Token, calldata('Token', 'symbol')),
      call(Token, calldata('Token', 'transfer', proxy, 1n)),
      call(Collectible, calldata('Collectible', 'tokenURI', 1n)),
      call(Collectible, calldata('Collectible', 'ownerOf', 2n)),
      call(Factory, calldata('Factory', 'deployedCount')),
      call(proxy, calldata('Vault', 'version')),
      call(proxy, calldata('Vault', 'deposits', this.#owner, Token)),
      call(proxy, calldata('VaultV2', 'lastDeposits', 1n)),
      { method: 'eth_getProof', params: [proxy, [IMPLEMENTATION_SLOT], block] },
    ]
  }

  #makeCycle(cycle: number): Step[] {
    const { Token, Collectible, Factory, ERC1967Proxy: proxy, Runner, Vault, VaultV2 } = this.#at
    const owner = this.#owner
    const friend = pad(toHex(0xf00d + (cycle % 40)), { size: 20 })
    const salt = pad(toHex(cycle + 1), { size: 32 })
    const thing = BigInt(cycle + 1)
    const amount = BigInt(cycle + 2)
    const named = [`Token ${cycle}`, 'T']
    const child = getContractAddress({
      opcode: 'CREATE2',
      from: Factory,
      salt,
      bytecode: creation('Token', ...named, owner, 10n ** 21n),
    })
    // Each cycle has one creation by `run` and, at the end of those of `keep`, the contract that is destroyed later.
    const nonce = BigInt(cycle) * (KEPT + 2n) + KEPT + 2n
    const kept = getContractAddress({ from: Runner, nonce })
    const step = (to: Address, data: Hex, rest: { value?: bigint; succeeds?: boolean; logs?: boolean } = {}): Step => {
      const { value = 0n, succeeds = true, logs = succeeds } = rest
      return { transaction: { gas: this.#gas, to, data, value: formatQuantity(value) }, succeeds, logs }
    }
    const token = (name: string, ...args: unknown[]) => calldata('Token', name, ...args)
    const vault = (name: string, ...args: unknown[]) => calldata('VaultV2', name, ...args)
    const next = cycle % 2 === 0 ? VaultV2 : Vault
    const migration = cycle === 0 ? vault('initializeV2') : '0x'
    return [
      step(Token, token('mint', owner, MILLION)),
      step(Factory, calldata('Factory', 'createToken2', ...named, salt)),
      step(Runner, calldata('Runner', 'run', BigInt(cycle % 5), friend), { value: amount }),
      step(Token, token('approve', proxy, 2n * amount)),
      step(proxy, vault('deposit', Token, amount)),
      step(Collectible, calldata('Collectible', 'mint', owner)),
      step(proxy, vault('upgradeToAndCall', next, migration)),
      step(Collectible, calldata('Collectible', 'safeTransferFrom', owner, proxy, thing)),
      step(proxy, vault('deposit', Token, amount)),
      step(child, token('transfer', friend, amount)),
      step(proxy, vault('deposit', Token, amount), { succeeds: false }), // more than was approved
      step(Runner, calldata('Runner', 'keep', KEPT), { value: amount }),
      step(Runner, calldata('Runner', 'destroyLater', kept, friend), { logs: false }),
      step(proxy, '0x', { value: amount }),
      step(Token, token('setPaused', true), { logs: false }),
      step(Token, token('transfer', friend, amount), { succeeds: false }),
      step(Token, token('setPaused', false), { logs: false }),
      step(Token, token('transfer', friend, amount)),
      step(proxy, vault('withdraw', Token, amount)),
      step(proxy, vault('withdraw', ETHER, amount)),
      step(Factory, calldata('Factory', 'createToken', ...named)),
      step(Collectible, calldata('Collectible', 'approve', friend, thing), { succeeds: false }), // of the vault now
      step(proxy, vault('release', Collectible, thing, owner)),
      step(Factory, calldata('Factory', 'clone', Vault, salt)),
      step(Factory, calldata('Factory', 'clone', Vault, salt), { succeeds: false }), // the address is in use
      step(Token, token('burn', amount)),
      { transaction: { gas: this.#gas, data: creation('Token', ...named, owner, 0n) }, succeeds: true, logs: true },
    ]
  }
}

async function receiptOf(peer: Peer, hash: string): Promise<Receipt> {
  return resultOf<Receipt>(peer.url, 'eth_getTransactionReceipt', [hash])
}
