// A program that uses devsh as a library: lists the users of one device, adds one, and prints the result.
import { apply, DevshError, openDevice, plan, type RunReport, type StepResult } from 'devsh';

const { ADDRESS = '', FINGERPRINT = '', CA = '', PASSWORD = '', STATE = '' } = process.env;
const login = { user: 'admin', password: PASSWORD };

const pinned = await openDevice(ADDRESS, { login, fingerprint: FINGERPRINT });
const signed = await openDevice(ADDRESS, { login, ca: CA });
try {
  const users = await pinned.list('user');
  const sameUsers = await signed.list();
  const ready = await plan(pinned, [
    { add: 'user', fields: { username: 'zoe', first_name: 'Zoe', lastname: 'Zimmer', lang: 'de' } },
  ]);
  const seen: StepResult[] = [];
  const report: RunReport = await apply(ready, {
    stateFolder: STATE,
    onResult: (result) => seen.push(result),
  });
  // @ts-expect-error a change needs its kind
  const refused: unknown = await plan(pinned, [{ fields: {} }]).catch((error: unknown) => error);
  console.log(
    JSON.stringify({
      users: users.length,
      sameUsers: sameUsers.length,
      steps: ready.steps,
      verdicts: seen.map(({ verdict }) => verdict),
      isGood: report.isGood,
      journal: report.journal,
      refused: refused instanceof DevshError && refused.code,
    }),
  );
} finally {
  await pinned.close();
  await signed.close();
}
