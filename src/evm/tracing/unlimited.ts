import { noDeadline } from '../../lib/deadline.js'

/** Limits of a replay: none, since the transactions of a stored block have run before and are verified. */
export const UNLIMITED = { deadline: noDeadline, memoryBytes: Number.POSITIVE_INFINITY } as const
