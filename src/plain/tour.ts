/** The lines of the demo without a terminal: connect has been done, then table, add, read-back, delete. */
export const TOUR: readonly string[] = [
  'user list --fold --sort username --columns username,first_name,lastname,lang',
  'user add username=carol first_name=Carol lastname=Clark lang=de --yes',
  'user show carol',
  'user set carol lang=en --on sim1 --yes',
  'user list carol',
  'user delete carol --yes',
  'user list carol',
];
