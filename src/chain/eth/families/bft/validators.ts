import { formatData } from '../../../../lib/hex.js'
import type { ChainSpec } from '../../forks/rules.js'
import type { Header } from '../../types.js'
import { foldHeaders } from '../headerFold.js'
import type { BftRules } from './bftRules.js'
import { readBftExtraData } from './extraData.js'
import { validatorPeriodAfter, validatorsFrom } from './periods.js'

/** Who may seal the next block, and the votes that count. Addresses are hex. */
interface Validators {
  /** In ascending order. */
  readonly addresses: readonly string[]
  readonly votes: readonly Vote[]
}

interface Vote {
  readonly proposer: string
  readonly candidate: string
  readonly isAdded: boolean
}

/** Returns the validators that may seal the block after another one, hex addresses in ascending order, from the votes
 *  of the blocks before; undefined where these are not available, and where a contract names the validators. */
export const validatorsAfter = foldHeaders<Validators>({ begin: beginValidators, next: countVote })

/** A block that ends an epoch drops the votes before it, and so does a transition that names the validators. */
function beginValidators(header: Header, spec: ChainSpec): Validators | undefined {
  const bft = spec.bft!
  if (validatorPeriodAfter(spec, header).validatorContract) return undefined
  const given = validatorsFrom(bft, header.number + 1)
  if (given !== undefined) return { addresses: given.map(formatData), votes: [] }
  if (header.number % bft.epoch !== 0) return undefined
  const { validators } = readBftExtraData(header.extraData)
  if (validators.length === 0) return undefined
  const ended = { addresses: validators.map(formatData).sort(), votes: [] }
  return bft.isGoQuorum && header.number > 0 ? withVote(ended, header, bft) : ended
}

function countVote(before: Validators, header: Header, spec: ChainSpec): Validators {
  return beginValidators(header, spec) ?? withVote(before, header, spec.bft!)
}

/** More than half of the validators add or remove one (Besu: VoteTally; GoQuorum: snapApplyHeader). */
function withVote({ addresses, votes }: Validators, header: Header, { isGoQuorum }: BftRules): Validators {
  const { candidate: address, adds } = readBftExtraData(header.extraData)
  if (address === undefined) return { addresses, votes }
  const [candidate, proposer] = [formatData(address), formatData(header.miner)]
  const others = votes.filter((vote) => vote.candidate !== candidate || vote.proposer !== proposer)
  // GoQuorum does not count a vote for what is so already.
  if (isGoQuorum && addresses.includes(candidate) === adds) return { addresses, votes: others }
  const now = [...others, { proposer, candidate, isAdded: adds }]
  const count = now.filter((vote) => vote.candidate === candidate && vote.isAdded === adds).length
  if (count <= Math.floor(addresses.length / 2)) return { addresses, votes: now }
  const without = addresses.filter((each) => each !== candidate)
  return {
    addresses: adds ? [...without, candidate].sort() : without,
    votes: now.filter((vote) => vote.candidate !== candidate && (adds || vote.proposer !== candidate)),
  }
}
