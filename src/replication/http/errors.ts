import { CairnError } from '../../lib/errors.js'

/** A server refuses to replicate: by its key, its options, or since it holds another chain. */
export class ReplicationRefused extends CairnError {
  /** Of the response; undefined when the first frame is refused here. */
  readonly status: number | undefined
  constructor(server: string, status: number | undefined, reason: string) {
    super(`${server}: ${status === undefined ? '' : `HTTP ${status}: `}${reason}`)
    this.status = status
  }
}
