import { METHOD_NOT_FOUND, SERVER_ERROR } from '../core/errors.js'

/* Errors of subscriptions, in geth's words. */

/** Over HTTP. */
export const NOTIFICATIONS_UNSUPPORTED = { code: METHOD_NOT_FOUND, message: 'notifications not supported' } as const
/** For an id that no subscription of the connection has. */
export const SUBSCRIPTION_NOT_FOUND = { code: SERVER_ERROR, message: 'subscription not found' } as const
