-- Sends ready-made requests in turn, checks every answer, and ends the run after a number of them rather than of seconds.
local requests, wanted = {}, 0
local sent, answered, wrong, first = 0, 0, 0, ""

function init(args)
  wanted = tonumber(args[1])
  for at = 2, #args do requests[at - 1] = args[at] end
end

function request()
  sent = sent + 1
  return requests[sent % #requests + 1]
end

function response(status, _, body)
  answered = answered + 1
  if status ~= 200 or not body:find('"result":{', 1, true) then
    wrong = wrong + 1
    if wrong == 1 then first = status .. " " .. body:sub(1, 300) end
  end
  if answered < wanted then return end
  io.write(("sent=%d wrong=%d first=%s\n"):format(sent, wrong, first))
  io.flush()
  os.exit(0)
end
