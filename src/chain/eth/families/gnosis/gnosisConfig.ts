import { formatData } from '../../../../lib/hex.js'
import { GAS_PER_BLOB } from '../../fees.js'
import type { BlobSchedule } from '../../forks/fork.js'
import type { ChainSpec } from '../../forks/rules.js'
import { type GenesisJson, InvalidGenesis, readBytes, readHex, readUint, requireObject } from '../../genesisFields.js'
import type { ConfigValue } from '../family.js'
import type { CodeChange, GnosisRules, RewardContract } from './gnosisRules.js'

/** Blobs of all forks since Cancun (gnosischain/specs: network-upgrades/dencun.md, pectra.md). */
const BLOBS: BlobSchedule = { target: 1, max: 2, baseFeeUpdateFraction: 1_112_826n }
export const GNOSIS_BLOBS: ChainSpec['blobSchedules'] = { cancun: BLOBS, prague: BLOBS }
/** Wei. */
export const GNOSIS_MIN_BLOB_BASE_FEE = 1_000_000_000n

const isSet = (value: unknown) => value !== undefined && value !== null

/** Reads the rules of a chain from `config.aura` and the members beside it, as geth of Gnosis, Erigon and reth_gnosis
 *  have them; undefined without `config.aura`. @throws InvalidGenesis */
export function readGnosisConfig(config: GenesisJson): Partial<ChainSpec> | undefined {
  if (!isSet(config.aura)) return undefined
  const aura = requireObject(config.aura, 'config.aura')
  const codeChanges = readCodeChanges(config)
  return {
    family: 'gnosis',
    ethash: false,
    ...(isSet(config.blobSchedule) ? {} : { blobSchedules: readBlobs(config) }),
    minBlobBaseFee: isSet(config.minBlobGasPrice)
      ? readUint(config.minBlobGasPrice, 'config.minBlobGasPrice', 64)
      : GNOSIS_MIN_BLOB_BASE_FEE,
    ...(codeChanges.length > 0 ? { otherForkTimes: codeChanges.map(({ timestamp }) => timestamp) } : {}),
    gnosis: {
      feeCollector: readFeeCollector(config, aura),
      rewardContracts: readRewardContracts(aura),
      withdrawalContract: isSet(aura.withdrawalContractAddress)
        ? readBytes(aura.withdrawalContractAddress, 20, 'config.aura.withdrawalContractAddress')
        : undefined,
      codeChanges,
    },
  }
}

/** The blobs of all forks, as Erigon and reth_gnosis have them in gas. */
function readBlobs(config: GenesisJson): ChainSpec['blobSchedules'] {
  const read = (name: string, missing: bigint) =>
    isSet(config[name]) ? readUint(config[name], `config.${name}`, 53) : missing
  const blobs: BlobSchedule = {
    target: Number(read('targetBlobGasPerBlock', BigInt(BLOBS.target) * GAS_PER_BLOB) / GAS_PER_BLOB),
    max: Number(read('maxBlobGasPerBlock', BigInt(BLOBS.max) * GAS_PER_BLOB) / GAS_PER_BLOB),
    baseFeeUpdateFraction: read('blobGasPriceUpdateFraction', BLOBS.baseFeeUpdateFraction),
  }
  return { cancun: blobs, prague: blobs }
}

function readFeeCollector(config: GenesisJson, aura: GenesisJson): Uint8Array {
  if (isSet(aura.eip1559FeeCollector)) return readBytes(aura.eip1559FeeCollector, 20, 'config.aura.eip1559FeeCollector')
  if (isSet(config.eip1559collector)) return readBytes(config.eip1559collector, 20, 'config.eip1559collector')
  throw new InvalidGenesis('config.aura.eip1559FeeCollector: expected the account that gets base fees, got nothing')
}

function readRewardContracts(aura: GenesisJson): RewardContract[] {
  const contracts: RewardContract[] = []
  if (isSet(aura.blockRewardContractAddress)) {
    const block = readUint(aura.blockRewardContractTransition ?? 0, 'config.aura.blockRewardContractTransition', 53)
    const address = readBytes(aura.blockRewardContractAddress, 20, 'config.aura.blockRewardContractAddress')
    contracts.push({ block: Number(block), address })
  }
  const path = 'config.aura.blockRewardContractTransitions'
  for (const [block, address] of Object.entries(requireObject(aura.blockRewardContractTransitions ?? {}, path))) {
    const at = Number(readUint(block, `${path}: block`, 53))
    contracts.push({ block: at, address: readBytes(address, 20, `${path}.${block}`) })
  }
  return contracts.sort((a, b) => a.block - b.block)
}

/** Codes that a fork by time sets, as reth_gnosis has them. */
function readCodeChanges(config: GenesisJson): CodeChange[] {
  if (!isSet(config.balancerHardforkTime)) return []
  const timestamp = readUint(config.balancerHardforkTime, 'config.balancerHardforkTime', 64)
  const path = 'config.balancerHardforkBytecodes'
  return Object.entries(requireObject(config.balancerHardforkBytecodes, path)).map(([address, code]) => ({
    timestamp,
    address: readBytes(address, 20, path),
    code: readHex(code === '' ? '0x' : code, `${path}.${address}`),
  }))
}

/** Returns members of `config` from which `readGnosisConfig` reads the same. */
export function formatGnosisConfig({ gnosis, minBlobBaseFee }: ChainSpec): { readonly [member: string]: ConfigValue } {
  const { feeCollector, rewardContracts, withdrawalContract, codeChanges } = gnosis!
  return {
    aura: {
      eip1559FeeCollector: formatData(feeCollector),
      blockRewardContractTransitions: Object.fromEntries(
        rewardContracts.map(({ block, address }) => [String(block), formatData(address)]),
      ),
      ...(withdrawalContract === undefined ? {} : { withdrawalContractAddress: formatData(withdrawalContract) }),
    },
    minBlobGasPrice: minBlobBaseFee!,
    ...formatCodeChanges(codeChanges),
  }
}

function formatCodeChanges(changes: GnosisRules['codeChanges']): { readonly [member: string]: ConfigValue } {
  if (changes.length === 0) return {}
  return {
    balancerHardforkTime: changes[0].timestamp,
    balancerHardforkBytecodes: Object.fromEntries(
      changes.map(({ address, code }) => [formatData(address), formatData(code)]),
    ),
  }
}
