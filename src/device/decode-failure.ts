/** A body that holds no records; `device.ts` makes it an error with the device's name. */
export class DecodeFailure extends Error {}

/** A 2xx whose body says that the device did not do it. */
export class DeclinedFailure extends Error {}
