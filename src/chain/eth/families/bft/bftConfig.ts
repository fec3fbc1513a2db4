import { compareBytes } from '../../../../lib/bytes.js'
import { formatData } from '../../../../lib/hex.js'
import { type GenesisJson, InvalidGenesis, readBytes, readUint, requireObject, show } from '../../genesisFields.js'
import type { ConfigValue } from '../family.js'
import type { BftPeriod, BftRules } from './bftRules.js'

const DEFAULT_EPOCH = 30_000n

/** Reads the rules from `config.qbft` or `config.ibft2` and the transitions of a genesis (Besu: docs, "Transitions";
 *  GoQuorum: params/config.go). The names of their members are read in any case. @throws InvalidGenesis */
export function readBftRules(config: GenesisJson, name: 'qbft' | 'ibft2'): BftRules {
  const path = `config.${name}`
  const own = lowerKeys(requireObject(config[name], path))
  const epoch = readUint(own.epochlength ?? DEFAULT_EPOCH, `${path}.epochlength`, 32)
  if (epoch === 0n) throw new InvalidGenesis(`${path}.epochlength: expected at least 1, got 0`)
  const periods = [readPeriod({ ...own, block: 0 }, path, undefined)]
  for (const [index, transition] of transitionsOf(config, name).entries()) {
    const period = readPeriod(transition, `config.transitions[${index}]`, periods.at(-1))
    if (period.block < periods.at(-1)!.block) {
      throw new InvalidGenesis(`config.transitions[${index}].block: expected those in order, got ${period.block}`)
    }
    periods.push(period)
  }
  const isGoQuorum = config.isQuorum === true
  return { zeroBaseFee: config.zeroBaseFee === true, epoch: Number(epoch), isGoQuorum, periods }
}

/** Returns members of `config` from which `readBftRules` reads the same. */
export function formatBftRules(name: 'qbft' | 'ibft2', { zeroBaseFee, epoch, isGoQuorum, periods }: BftRules) {
  const [{ block: _, ...first }, ...later] = periods.map(formatPeriod)
  return {
    [name]: { epochlength: BigInt(epoch), ...first },
    zeroBaseFee,
    ...(isGoQuorum ? { isQuorum: true } : {}),
    ...(later.length > 0 ? { transitions: { [name]: later } } : {}),
  } satisfies { [member: string]: ConfigValue }
}

function formatPeriod(period: BftPeriod) {
  const { block, validatorContract, blockReward, beneficiary, validators } = period
  return {
    block: BigInt(block),
    validatorselectionmode: validatorContract ? 'contract' : 'blockheader',
    ...(validatorContract === undefined ? {} : { validatorcontractaddress: formatData(validatorContract) }),
    blockreward: `0x${blockReward.toString(16)}`,
    miningbeneficiary: beneficiary === undefined ? '' : formatData(beneficiary),
    ...(validators === undefined ? {} : { validators: validators.map(formatData) }),
  }
}

/** Besu lists transitions by protocol, GoQuorum all in one list. */
function transitionsOf(config: GenesisJson, name: string): GenesisJson[] {
  const { transitions } = config
  if (transitions === undefined || transitions === null) return []
  const list = Array.isArray(transitions) ? transitions : (requireObject(transitions, 'config.transitions')[name] ?? [])
  if (!Array.isArray(list)) {
    throw new InvalidGenesis(`config.transitions.${name}: expected a list, got ${show(list)}`)
  }
  return list.map((each, index) => lowerKeys(requireObject(each, `config.transitions[${index}]`)))
}

/** Returns the members under their names in lower case. */
export function lowerKeys(object: GenesisJson): GenesisJson {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key.toLowerCase(), value]))
}

function readPeriod(own: GenesisJson, path: string, before: BftPeriod | undefined): BftPeriod {
  const { validators } = own
  if (validators !== undefined && validators !== null && !Array.isArray(validators)) {
    throw new InvalidGenesis(`${path}.validators: expected a list of addresses, got ${show(validators)}`)
  }
  const addresses = (validators ?? []).map((each: unknown) => readBytes(each, 20, `${path}.validators`))
  return {
    block: Number(readUint(own.block, `${path}.block`, 32)),
    validatorContract: readContract(own, path, before),
    blockReward: isSet(own.blockreward)
      ? readUint(own.blockreward, `${path}.blockreward`, 256)
      : (before?.blockReward ?? 0n),
    beneficiary: readBeneficiary(own, path, before),
    ...(addresses.length > 0 ? { validators: addresses.sort(compareBytes) } : {}),
  }
}

/** True for a member that is neither absent nor null. */
export const isSet = (value: unknown) => value !== undefined && value !== null

/** A mode without an address keeps that of the period before. */
function readContract(own: GenesisJson, path: string, before: BftPeriod | undefined): Uint8Array | undefined {
  const { validatorselectionmode: mode, validatorcontractaddress: address } = own
  const name = isSet(mode) ? String(mode).toLowerCase() : undefined
  if (name !== undefined && name !== 'contract' && name !== 'blockheader') {
    throw new InvalidGenesis(`${path}.validatorselectionmode: expected contract or blockheader, got ${show(mode)}`)
  }
  if (name === 'blockheader') return undefined
  const given = isSet(address) ? readBytes(address, 20, `${path}.validatorcontractaddress`) : undefined
  const contract = given?.some((byte) => byte !== 0) ? given : before?.validatorContract
  if (name === 'contract' && contract === undefined) {
    throw new InvalidGenesis(`${path}.validatorcontractaddress: expected an address, got ${show(address)}`)
  }
  return contract
}

function readBeneficiary(own: GenesisJson, path: string, before: BftPeriod | undefined): Uint8Array | undefined {
  const { miningbeneficiary: address, beneficiarymode: mode } = own
  if (mode === 'validator' || mode === 'validators') return undefined
  if (!isSet(address)) return before?.beneficiary
  if (String(address).trim() === '') return undefined
  return readBytes(String(address).trim(), 20, `${path}.miningbeneficiary`)
}
