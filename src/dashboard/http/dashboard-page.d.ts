// The module that `npm run build` makes of the page.
declare module "#dashboard-page" {
  export const files: import("./page-files.ts").PageFiles;
}
