import { formatData } from '../../lib/hex.js'
import type { InvalidVerdict } from './payloadTree.js'

/** PayloadStatusV1 of the Engine API, as JSON. */
export interface PayloadStatus {
  readonly status: 'VALID' | 'INVALID' | 'SYNCING' | 'ACCEPTED'
  /** 32 bytes. */
  readonly latestValidHash: string | null
  readonly validationError: string | null
}

/** The status of a block that was executed. */
export function valid(hash: Uint8Array): PayloadStatus {
  return { status: 'VALID', latestValidHash: formatData(hash), validationError: null }
}

/** The status of a block that breaks a rule, or whose ancestor does. */
export function invalid({ latestValidHash, problem }: InvalidVerdict): PayloadStatus {
  return {
    status: 'INVALID',
    latestValidHash: latestValidHash ? formatData(latestValidHash) : null,
    validationError: problem,
  }
}

/** The status of a block that cannot be executed yet: an ancestor or a state is missing. */
export function syncing(): PayloadStatus {
  return { status: 'SYNCING', latestValidHash: null, validationError: null }
}

/** The status of a block that does not extend the newest one, and is executed when it becomes the head. */
export function accepted(): PayloadStatus {
  return { status: 'ACCEPTED', latestValidHash: null, validationError: null }
}
