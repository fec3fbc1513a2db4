import { Common, type CustomCrypto, type HardforkTransitionConfig } from '@ethereumjs/common'
import { createEVM, type EVM } from '@ethereumjs/evm'
import { paramsTx } from '@ethereumjs/tx'
import { Address, type KZG } from '@ethereumjs/util'
import { createVM, type RunTxOpts, type VM } from '@ethereumjs/vm'
import { keccak256, recoverPublicKey } from '../../chain/crypto.js'
import { blobBaseFeeOf, GAS_PER_BLOB } from '../../chain/eth/fees.js'
import { type ChainSpec, FORKS, type Fork, type Rules } from '../../chain/eth/forks/rules.js'
import type { Header } from '../../chain/eth/types.js'
import { concatBytes } from '../../lib/bytes.js'
import { CairnError } from '../../lib/errors.js'
import type { MemoryMeter } from '../interpreter/memoryMeter.js'
import { loadKzgVerifier } from '../interpreter/precompiles/kzg.js'
import type { BlockHashes } from '../transition/blockExecutor.js'
import { meterEvm } from './meterEvm.js'
import type { Overlay } from './overlay.js'
import { patchAmsterdam } from './patchAmsterdam.js'
import { patchEvm } from './patchEvm.js'

/** The fields of the package's block that the EVM reads. */
export type PackageBlock = NonNullable<RunTxOpts['block']>

/** The package does not support the fork. */
export class UnknownToReference extends CairnError {}

/** An @ethereumjs EVM for one fork of a chain, over one overlay. Creating it costs about 1 ms: keep it. */
export interface ReferenceMachine {
  readonly common: Common
  readonly evm: EVM
  readonly vm: VM
}

/** Machines by fork over one overlay, created on first use. With a `meter` they run only calls, metered as in
 *  `meterEvm`. */
export function createMachines(
  spec: ChainSpec,
  overlay: Overlay,
  { blockHashes, meter }: { blockHashes: BlockHashes; meter?: MemoryMeter },
) {
  const machines = new Map<Fork, Promise<ReferenceMachine>>()
  const build = async (rules: Rules): Promise<ReferenceMachine> => {
    const { blobs } = rules
    const fork = packageFork(rules)
    const common = createPackageCommon(spec, fork)
    if (FORKS.indexOf(fork) >= FORKS.indexOf('cancun')) {
      // Blobs never reach Cairn: blocks hold only their versioned hashes.
      common.customCrypto.kzg = { verifyProof: await loadKzgVerifier() } as KZG
    }
    const getBlock = async (number: number) => {
      const hash = blockHashes(number)
      if (!hash) throw new Error(`block ${number} is not available, and BLOCKHASH asks for it`)
      return { hash: () => hash }
    }
    const blockchain = { getBlock, shallowCopy: () => blockchain } as never
    const evm = (await createEVM({ common, stateManager: overlay, blockchain })) as unknown as EVM
    patchEvm(evm)
    patchAmsterdam(evm)
    if (meter) meterEvm(evm, meter)
    const vm = await createVM({ common, stateManager: overlay, evm: evm as never, blockchain })
    common.updateParams(paramsTx)
    if (blobs)
      common.updateParams({ [packageForkName(fork)]: { maxBlobGasPerBlock: blobs.max * Number(GAS_PER_BLOB) } })
    // Each transaction would otherwise copy the package's parameters again.
    common.updateParams = () => {}
    return { common, evm, vm }
  }
  return (rules: Rules): Promise<ReferenceMachine> => {
    let machine = machines.get(rules.fork)
    if (!machine) {
      machine = build(rules)
      machines.set(rules.fork, machine)
    }
    return machine
  }
}

/** @throws UnknownToReference */
function packageFork(rules: Rules): Fork {
  if (rules.fork !== 'bogota') return rules.fork
  if (!rules.has('amsterdam'))
    throw new UnknownToReference('the reference EVM does not execute Bogota without Amsterdam')
  return 'amsterdam'
}

// Blob schedule forks that no network has used. The package does not know them; the schedule is set separately.
const UNKNOWN_FORKS: readonly Fork[] = ['bpo3', 'bpo4', 'bpo5']

function packageForkName(fork: Fork): string {
  if (fork === 'frontier') return 'chainstart'
  return UNKNOWN_FORKS.includes(fork) ? 'bpo2' : fork
}

function createPackageCommon(spec: ChainSpec, fork: Fork): Common {
  // Every fork up to the wanted one is active from block 0: the fork is chosen here, not by the package.
  const names = FORKS.slice(0, FORKS.indexOf(fork) + 1).filter(
    (name) => name === fork || (name !== 'dao' && !UNKNOWN_FORKS.includes(name)),
  )
  const hardforks: HardforkTransitionConfig[] = names.map((name) => ({ name: packageForkName(name), block: 0 }))
  return new Common({
    chain: {
      name: spec.name,
      // As text, because JSON numbers end at 2^53.
      chainId: spec.chainId.toString(),
      defaultHardfork: packageForkName(fork),
      genesis: { gasLimit: 0, difficulty: 0, nonce: '0x0000000000000000', extraData: '0x' },
      hardforks,
      bootstrapNodes: [],
      dnsNetworks: [],
      consensus: { type: 'pow', algorithm: 'ethash', ethash: {} },
    } as never,
    hardfork: packageForkName(fork),
    customCrypto: packageCrypto(),
  })
}

function packageCrypto(): CustomCrypto {
  return {
    keccak256,
    ecrecover: (hash, v, r, s, chainId) => {
      const recoveryId = Number(chainId === undefined ? (v < 27n ? v : v - 27n) : v - (chainId * 2n + 35n))
      if (recoveryId !== 0 && recoveryId !== 1) throw new Error('Invalid signature v value')
      return recoverPublicKey(hash, recoveryId, r, s)
    },
    ecdsaRecover: (signature, recoveryId, hash) =>
      concatBytes(
        Uint8Array.of(4),
        recoverPublicKey(hash, recoveryId, signature.subarray(0, 32), signature.subarray(32, 64)),
      ),
  }
}

/** The block as the EVM reads it, without the package's checks, which `sync/validate` has done. Fees can be overridden,
 *  as for `eth_call`. */
export function createPackageBlock(
  common: Common,
  header: Header,
  rules: Rules,
  { baseFeePerGas = header.baseFeePerGas, freeBlobs = false }: { baseFeePerGas?: bigint; freeBlobs?: boolean } = {},
): PackageBlock {
  const { excessBlobGas } = header
  const blobGasPrice = excessBlobGas === undefined || freeBlobs ? 0n : blobBaseFeeOf(excessBlobGas, rules)
  return {
    common,
    header: {
      common,
      number: BigInt(header.number),
      timestamp: header.timestamp,
      coinbase: new Address(header.miner),
      difficulty: rules.isProofOfStake ? 0n : header.difficulty,
      prevRandao: header.mixHash,
      gasLimit: header.gasLimit,
      gasUsed: header.gasUsed,
      baseFeePerGas,
      slotNumber: header.slotNumber,
      getBlobGasPrice: () => blobGasPrice,
    },
    errorStr: () => `block ${header.number}`,
  } as unknown as PackageBlock
}
